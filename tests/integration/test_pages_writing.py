"""Adding, correcting and deleting documents in a browser, with `kgrag serve --allow-ingest`."""

import shutil

import pytest

from tests.fixtures.chromium import chromium, missing
from tests.fixtures.served import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NEW = "甘南州湿地保护实施方案\n甘政发〔2023〕7号\n到2025年，甘南州湿地保护率达到63%。\n"
QUESTION = "到2025年甘南州湿地保护率达到多少？"


@pytest.fixture(scope="module")
def site(sample_kb, tmp_path_factory):
    kb = shutil.copytree(sample_kb, tmp_path_factory.mktemp("writing") / "kb")
    with serving(kb, "--allow-ingest") as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture
def page(browser):
    context = browser.new_context(locale="zh-CN", viewport={"width": 1280, "height": 860})
    page = context.new_page()
    told: list[str] = []
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("console", lambda m: told.append(m.text) if m.type in ("error", "warning") else None)
    yield page
    context.close()
    assert not [said for said in told if "status of 400" not in said]  # of a form with mistakes


def test_documents_are_added_asked_corrected_and_deleted(page, site, tmp_path):
    """Many files, so that the progress is seen; it is there after a reload, too."""
    files = [tmp_path / "湿地.txt", tmp_path / "坏.docx"]
    files[0].write_text(NEW, "utf-8")
    files[1].write_bytes(b"PK no document")
    for n in range(80):
        files.append(tmp_path / f"{n}.txt")
        files[-1].write_text(f"第{n}号方案\n一、目标\n完成第{n}项任务。\n" * 40, "utf-8")
    page.goto(site)
    page.click("nav >> text=加入文件")
    page.set_input_files("#files", files)
    page.click("#upload .go")
    page.wait_for_selector("#ingest progress")
    page.reload()
    page.wait_for_selector("#ingest >> text=共82个文件，已加入81个", timeout=60_000)
    assert page.locator("#ingest progress").count() == 0
    failed = page.locator("#ingest tr", has_text="坏.docx").inner_text()
    assert "未能加入" in failed
    page.goto(f"{site}?question={QUESTION}")
    page.wait_for_selector(".answer .sources")
    assert "63%" in page.inner_text(".answer .body")
    page.goto(f"{site}upload")
    page.click("#ingest td >> text=湿地.txt")
    page.click("text=更正或删除")
    page.fill("#correct-date", "昨天")
    page.click("text=保存更正")
    page.wait_for_selector("main >> text=昨天")
    with page.expect_navigation():
        page.evaluate("history.back()")
    page.click("text=更正或删除")
    page.fill("#correct-date", "2023年4月1日")
    page.click("text=保存更正")
    assert "2023-04-01" in page.inner_text(".facts")
    page.click("text=更正或删除")
    page.click("text=删除本文件")
    page.click("main button >> text=删除")
    assert page.url == f"{site}documents"
    assert "湿地保护" not in page.inner_text("tbody")


def test_the_form_for_the_key_lets_in(browser, sample_kb):
    """A form of a page of ours is not taken for another site's."""
    with serving(sample_kb, token="the-key") as (address, _):
        page = browser.new_page()
        page.goto(f"{address}documents")
        page.fill("input[name=key]", "the-key")
        page.keyboard.press("Enter")
        page.wait_for_selector("tbody tr")
        assert page.url == f"{address}documents"


def test_without_a_script_it_works_too(browser, site, tmp_path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    file = tmp_path / "草地.txt"
    file.write_text(NEW.replace("湿地", "草地"), "utf-8")
    page.goto(f"{site}upload?lang=zh")
    page.set_input_files("#files", file)
    page.click("#upload .go")
    page.wait_for_selector("#ingest >> text=共1个文件，已加入1个", timeout=60_000)
    page.click("#ingest td >> text=草地.txt")
    page.click("text=更正或删除")
    page.fill("#correct-number", "甘政发[2023]8号")
    page.click("text=保存更正")
    assert "甘政发〔2023〕8号" in page.inner_text(".facts")
    context.close()


def test_dropped_files_are_chosen(page, site):
    page.goto(f"{site}upload")
    page.evaluate("""() => {
      const data = new DataTransfer();
      data.items.add(new File(["文"], "拖.txt"));
      document.getElementById("upload").dispatchEvent(
        new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }""")
    assert page.evaluate("document.getElementById('files').files[0].name") == "拖.txt"


@pytest.mark.parametrize(("path", "width"), [("upload", 390), ("duplicates", 1280)])
def test_axe_finds_nothing_serious(page, site, path, width):
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python (pip install 'kgrag[integration]')")
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(site + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert not [one["id"] for one in found if one["impact"] in ("serious", "critical")]

"""The user's cache is where the platform has caches, unless the user says otherwise."""

from pathlib import Path

import platformdirs
import pytest
from platformdirs.macos import MacOS

from kgrag.errors import ModelError
from kgrag.files.cache_folder import cache_folder

VARIABLES = ("KGRAG_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, and no variable that says otherwise."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_cache_folder_is_the_one_that_the_user_names(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KGRAG_CACHE comes before the platform's place; it may be relative."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    monkeypatch.setenv("KGRAG_CACHE", "mine")

    assert cache_folder() == Path("mine")


@pytest.mark.skipif("sys.platform != 'linux'", reason="the places of Linux")
def test_cache_folder_on_linux_is_where_xdg_has_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the home folder, or the place that XDG_CACHE_HOME names; an empty one names none."""
    assert cache_folder() == home / ".cache" / "kgrag"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == home / ".cache" / "kgrag"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert cache_folder() == home / "xdg" / "kgrag"


def test_cache_folder_on_a_mac_is_in_the_library(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the caches of other programs."""
    monkeypatch.setattr(platformdirs, "PlatformDirs", MacOS)

    assert cache_folder() == home / "Library" / "Caches" / "kgrag"


def test_cache_folder_on_windows_is_local_application_data(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the author and the further folder that the library would put there."""
    windows = pytest.importorskip("platformdirs.windows")
    monkeypatch.setattr(windows, "get_win_folder", lambda name: str(home / name))
    monkeypatch.setattr(platformdirs, "PlatformDirs", windows.Windows)

    assert cache_folder() == home / "CSIDL_LOCAL_APPDATA" / "kgrag"


def test_cache_folder_names_the_remedy_when_there_is_no_home(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user without a home folder, as in some containers, is told what to set."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)

    with pytest.raises(ModelError, match=r"^there is no place .*Remedy: set KGRAG_CACHE"):
        cache_folder()

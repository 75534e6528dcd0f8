"""Pages that were read badly, written down as Markdown by a model that sees them."""

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from kgrag.errors import ModelError, ModelOutputError
from kgrag.ids import digest
from kgrag.ingestion.load.context import Pages, Scan, Seeing
from kgrag.ingestion.load.legible import ranges
from kgrag.ingestion.load.ocr import why_unread
from kgrag.ingestion.load.seen import numbers_in, out_of_order, page_items, page_text
from kgrag.ingestion.reading import language_of
from kgrag.llm.chat import Request
from kgrag.llm.ledger import Calls, Prediction, predict, request_key
from kgrag.llm.middleware import Meter, Metered
from kgrag.llm.models import Models
from kgrag.llm.prompts import LANGUAGES, fence, prompt
from kgrag.llm.structured import ask_text
from kgrag.text.messages import message
from kgrag.text.words import words

VisionUse = Literal["model", "kept", "plan"]
_MOST_NAMED = 8  # numbers


@dataclass(eq=False)
class Vision:
    """Reads pages of files by the model of `[vision]`, for one run; thread-safe.

    For a `plan` nothing is read: `planned` is what each file would use. Otherwise `kept` answers
    alone, or the `model` for what is not kept. A file is `incomplete` if a page of it could not be
    shown: it is to be read again.
    """

    models: Models
    workers: int
    calls: Calls
    use: VisionUse = "model"
    planned: list[Prediction] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)
    incomplete: set[str] = field(default_factory=set)

    @property
    def identity(self) -> str:
        """Return a digest of all that decides what is read."""
        prompts = (repr(prompt("page", language)) for language in LANGUAGES)
        return digest(self.models.model_name("vision"), *prompts)

    def mark(self, media_type: str, file: str = "") -> str:
        """Return the mark of a file in its fingerprint; empty if pages are yet to be shown."""
        is_seen = media_type in ("pdf", "picture") and file not in self.incomplete
        return self.identity if is_seen else ""

    def seen(self, file: str, scans: Sequence[Scan], told: Pages = max) -> Seeing:
        """Return the pages of a file as the model writes them down.

        As the notebook's `refine` (document-ocr-notebook): picture and recognised text in, Markdown
        out, a page a call. A page keeps its text if that fails, if the answer has not half of its
        words, or if a number that was read surely is missing or moved; remarks say so. `told` is
        called after each page.
        """
        if self.use == "plan":
            name, parameters = self.models.model_name("vision"), self.models.parameters("vision")
            requests = map(page_request, scans)
            planned = predict(requests, model=name, parameters=parameters, calls=self.calls)
            self.planned.append(planned)
            return Seeing({scan.page: "…" for scan in scans if not scan.text})
        with ThreadPoolExecutor(self.workers, "see") as pool:
            answers: list[tuple[str, str]] = []
            for answer in pool.map(partial(self._written, file), scans):
                answers.append(answer)
                told(len(answers), len(scans))
        said: dict[str, list[int]] = {}
        for scan, (_, what) in zip(scans, answers, strict=True):
            said.setdefault(what, []).append(scan.page)
        remarks = (
            message("pages {pages}: {what}", pages=ranges(pages), what=what)
            for what, pages in said.items()
        )
        read = zip(scans, answers, strict=True)
        return Seeing({scan.page: text for scan, (text, _) in read if text}, tuple(remarks))

    def _written(self, file: str, scan: Scan) -> tuple[str, str]:
        """Return a page in Markdown, empty where it keeps its text, and what to say of it."""
        kept = "keep the text that was read without the vision model: {why}"
        try:
            text = self._answer(page_request(scan))
        except ModelError as exc:
            if not isinstance(exc, ModelOutputError):
                self.incomplete.add(file)
            return "", message(kept, why=exc)
        told, again = (Counter(filter(str.isalpha, words(t))) for t in (scan.text, text))
        numbers = numbers_in(page_text(page_items(text)))
        if moved := out_of_order(scan.numbers, numbers):
            missing = Counter(number.text for number in scan.numbers) - Counter(numbers)
            named = _named(missing or moved[:1])
            why = message("its answer lacks, changes or moves numbers: {named}", named=named)
            return "", message(kept, why=why)
        if "<td" in text or 2 * (told - again).total() > told.total():
            return "", message(kept, why=message("its answer is another text, or no Markdown"))
        if not scan.text:
            alone = "read by the vision model alone, so that no number is compared; {why}"
            return text, message(
                alone, why=why_unread() or message("no text was recognised in them")
            )
        new = dict.fromkeys(n for n in numbers if n not in numbers_in(scan.text))
        if not new:
            return text, message("written down by the vision model")
        said = "written down by the vision model; numbers that only it has read: {named}"
        return text, message(said, named=_named(new))

    def _answer(self, request: Request) -> str:
        if self.use == "model":
            model = Metered(self.models.of("vision"), self.meter, stage="vision")
            return ask_text(model, request).text
        name, parameters = self.models.model_name("vision"), self.models.parameters("vision")
        kept = self.calls.answer(request_key(request, model=name, parameters=parameters))
        if kept is None:
            raise ModelError(message("no answer is kept"))
        return kept.text


def page_request(scan: Scan) -> Request:
    """Return the request to write a page down; the schema's name is for predictions alone."""
    text = fence(scan.text, label="recognised") if scan.text else "—"
    system, user = prompt("page", language_of(scan.text)).fill(text=text)
    picture = f"data:image/jpeg;base64,{base64.b64encode(scan.jpeg).decode()}"
    messages = (system, replace(user, images=(picture,)))
    name = "page" if scan.text else "page_alone"
    return Request(messages, stage="vision", schema_name=name, streamed=True)


def _named(numbers: Iterable[str]) -> str:
    named = list(numbers)
    return ", ".join(named[:_MOST_NAMED]) + "…" * (len(named) > _MOST_NAMED)

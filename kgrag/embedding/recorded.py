"""What a knowledge base records of its encoder, and how another one differs from it."""

import json
from collections.abc import Mapping

from kgrag.embedding.embedder import Embedder

_IDENTITY, _SETTINGS = "embedder", "embedder_settings"
PLUGIN, CLASS = "plugin", "class"  # settings of encoders that others than kgrag give
_UNSET = {"late chunking": "off"}  # what a setting is called that is not there; else "none"


def encoder_meta(embedder: Embedder) -> dict[str, str]:
    """Return the settings by which a knowledge base knows its encoder.

    `embedder` is its identity, which alone decides whether another encoder will do;
    `embedder_settings` are for people.
    """
    settings = {"dimension": str(embedder.dimension), **embedder.settings}
    return {
        _IDENTITY: embedder.name,
        "languages": embedder.languages,
        "stand_in": "yes" if embedder.is_stand_in else "no",
        _SETTINGS: json.dumps(settings, ensure_ascii=False, sort_keys=True),
    }


def came_from(meta: Mapping[str, str]) -> str:
    """Return where the recorded encoder came from, and the remedy where that is not there.

    Empty for an installed model, an endpoint and the stand-in.

    Args:
        meta: Of the knowledge base.
    """
    settings: dict[str, str] = json.loads(meta.get(_SETTINGS, "{}"))
    if package := settings.get(PLUGIN):
        return f"the plugin {package}. Remedy: pip install {package}"
    if given := settings.get(CLASS):
        return f"a program, as {given}. Remedy: KnowledgeBase.open(embedder=…) with that encoder"
    return ""


def differences(meta: Mapping[str, str], embedder: Embedder) -> list[str]:
    """Return in words how an encoder differs from the recorded one; the model first.

    Of another model only what both tell: that it has no such setting is no news.

    Args:
        meta: Of the knowledge base; one made by an older kgrag tells only the identity.
        embedder: The other.
    """
    if _SETTINGS not in meta:
        return []
    before: dict[str, str] = json.loads(meta[_SETTINGS])
    after = {"dimension": str(embedder.dimension), **embedder.settings}
    same_model = before.get("model") == after.get("model")
    names = dict.fromkeys(("model", *after, *before))
    return [
        f"{name} {after.get(name) or unset} instead of {before.get(name) or unset}"
        for name, unset in ((name, _UNSET.get(name, "none")) for name in names)
        if (before.get(name) or "") != (after.get(name) or "")
        and (same_model or (name in before and name in after))
    ]

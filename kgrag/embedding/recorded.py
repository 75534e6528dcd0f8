"""What a knowledge base records of its encoder, and how another one differs from it."""

from kgrag.embedding.embedder import Embedder
from kgrag.kb_meta import KbMeta

PLUGIN, CLASS = "plugin", "class"  # settings of encoders that others than kgrag give
_UNSET = {"late chunking": "off"}  # what a setting is called that is not there; else "none"


def encoder_meta(embedder: Embedder) -> KbMeta:
    """Return what a knowledge base records of its encoder."""
    settings = {"dimension": str(embedder.dimension), **embedder.settings}
    return KbMeta.of(
        embedder=embedder.name,
        languages=embedder.languages.split(",") if embedder.languages else (),
        stand_in=embedder.is_stand_in,
        embedder_settings=settings,
    )


def came_from(meta: KbMeta) -> str:
    """Return where the recorded encoder came from, and the remedy where that is not there.

    Empty for an installed model, an endpoint and the stand-in.

    Args:
        meta: Of the knowledge base.
    """
    settings = meta.embedder_settings or {}
    if package := settings.get(PLUGIN):
        return f"the plugin {package}. Remedy: pip install {package}"
    if given := settings.get(CLASS):
        return f"a program, as {given}. Remedy: KnowledgeBase.open(embedder=…) with that encoder"
    return ""


def differences(meta: KbMeta, embedder: Embedder) -> list[str]:
    """Return in words how an encoder differs from the recorded one; the model first.

    Of another model only what both tell: that it has no such setting is no news.

    Args:
        meta: Of the knowledge base; one made by an older kgrag tells only the identity.
        embedder: The other.
    """
    before = meta.embedder_settings
    if before is None:
        return []
    after = {"dimension": str(embedder.dimension), **embedder.settings}
    same_model = before.get("model") == after.get("model")
    names = dict.fromkeys(("model", *after, *before))
    return [
        f"{name} {after.get(name) or unset} instead of {before.get(name) or unset}"
        for name, unset in ((name, _UNSET.get(name, "none")) for name in names)
        if (before.get(name) or "") != (after.get(name) or "")
        and (same_model or (name in before and name in after))
    ]

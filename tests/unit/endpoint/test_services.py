"""Addresses that presets share."""

from kgrag.embedding import endpoint
from kgrag.endpoint.services import SERVICES
from kgrag.llm import providers
from kgrag.reranking import endpoint as reranking


def test_every_service_is_named_by_a_preset_and_every_preset_names_one():
    """An address that nobody asks, or one that stands elsewhere, would go out of date."""
    asked = {preset.service for preset in providers.PROVIDERS.values()}
    asked |= {preset.service for preset in endpoint.PROVIDERS.values()}
    asked |= {preset.service for preset in reranking.PROVIDERS.values()}
    assert asked == set(SERVICES.values())


def test_a_web_service_wants_a_key_and_a_server_on_this_machine_none():
    """So that it can be told which variable to set."""
    for name, service in SERVICES.items():
        assert bool(service.api_key_env) is service.base_url.startswith("https://"), name

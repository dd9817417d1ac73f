"""A pytest plugin: an example that fails is not made smaller, as nobody reads it."""

from __future__ import annotations

from hypothesis import Phase, settings


def pytest_configure() -> None:
    """After the profile of all tests is loaded."""
    settings.register_profile("first", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate))
    settings.load_profile("first")

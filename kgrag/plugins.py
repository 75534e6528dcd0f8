"""Plugins of other packages, found by their entry points; see docs/plugins.md.

Built-in names take precedence. Nothing is looked up at start-up, and a plugin is imported only
when it is used.
"""

import logging
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal, TypeVar

from kgrag.errors import KgragError, PluginError

Group = Literal["kgrag.systems", "kgrag.routes", "kgrag.embedders", "kgrag.loaders"]

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of another package.

    Attributes:
        group: What it extends.
        name: Its name.
        value: Its location, as `module:object`.
        package: Its distribution; empty if unknown.
        version: Of the distribution.
    """

    group: Group
    name: str
    value: str
    package: str
    version: str

    def __str__(self) -> str:
        """Return a description for messages."""
        package = " ".join(filter(None, (self.package, self.version))) or "an unknown package"
        return f"the plugin {self.name!r} of {package} ({self.group}: {self.value})"

    def load(self) -> object:
        """Import and return the plugin's object.

        Raises:
            PluginError: If that fails.
        """
        from importlib.metadata import EntryPoint

        try:
            return EntryPoint(self.name, self.value, self.group).load()
        except (Exception, SystemExit) as exc:  # whatever its module does when it is imported
            raise self.error(f"cannot be imported: {told(exc)}") from exc

    def error(self, what: str) -> PluginError:
        """Return an error on the plugin, with the remedy."""
        name = self.package or "it"
        return PluginError(
            f"{self} {what}. Remedy: correct it, install a version of {name} that fits this kgrag, "
            f"or remove it: pip uninstall {self.package or 'PACKAGE'}"
        )

    def guarded(self, function: Callable[..., _T], wanted: type[_T]) -> Callable[..., _T]:
        """Wrap a function of the plugin: errors name the plugin, and the result's type is checked.

        Args:
            function: Of the plugin; errors of kgrag pass through.
            wanted: Type that it must return.

        Raises:
            PluginError: In the wrapper, if the function fails or returns another type.
        """

        def call(*args: object, **options: object) -> _T:
            try:
                given = function(*args, **options)
            except KgragError:
                raise
            except (Exception, SystemExit) as exc:
                raise self.error(f"failed: {told(exc)}") from exc
            if not isinstance(given, wanted):
                raise self.error(f"gave {type(given).__name__} where {wanted.__name__} is wanted")
            return given

        call.__name__ = getattr(function, "__name__", self.name)
        return call


def find(group: Group, name: str, *, taken: Collection[str] = ()) -> Plugin | None:
    """Return the plugin of a name, or None. Nothing is imported.

    Args:
        group: What it extends.
        name: As the user names it.
        taken: Built-in names, which no plugin can replace.

    Raises:
        PluginError: If two plugins have this name; names both.
    """
    found = by_name(group, taken=taken).get(name, ())
    if len(found) > 1:
        first, *others = found
        raise PluginError(
            f"two plugins have the name {name!r}: {first}, and {others[0]}. Remedy: remove one "
            f"of them: pip uninstall {' or '.join(p.package or 'PACKAGE' for p in found)}"
        )
    return found[0] if found else None


def by_name(group: Group, *, taken: Collection[str] = ()) -> Mapping[str, tuple[Plugin, ...]]:
    """Return all plugins of a group by name, sorted; several of one name are an error of the user.

    Plugins with a built-in name are left out, with a warning in the log.
    """
    return _by_name(group, frozenset(taken), tuple(sys.path))


def installed(group: Group) -> list[Plugin]:
    """Return all plugins of a group, sorted by name, also those that cannot be used."""
    return list(_installed(group, tuple(sys.path)))


@cache
def _by_name(
    group: Group, taken: frozenset[str], path: Sequence[str]
) -> Mapping[str, tuple[Plugin, ...]]:
    found: dict[str, tuple[Plugin, ...]] = {}
    for plugin in _installed(group, path):
        if plugin.name in taken:
            _log.warning("%s is not used: kgrag has the name itself", plugin)
        else:
            found[plugin.name] = (*found.get(plugin.name, ()), plugin)
    return MappingProxyType(found)


@cache  # `path` is sys.path: where it has changed, other packages may be there
def _installed(group: Group, path: Sequence[str]) -> tuple[Plugin, ...]:
    from importlib.metadata import entry_points

    def plugin(name: str, value: str, package: str, version: str) -> Plugin:
        # files of both `rst` and `.RST` are meant by the suffix
        shown = name.lower().removeprefix(".") if group == "kgrag.loaders" else name
        return Plugin(group, shown, value, package, version)

    found = (
        plugin(e.name, e.value, e.dist.name if e.dist else "", e.dist.version if e.dist else "")
        for e in entry_points(group=group)
    )
    return tuple(sorted(found, key=lambda p: (p.name, p.package, p.value)))


def told(exc: BaseException) -> str:
    """Return an exception's type, and its text if it has one."""
    return f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__

"""Public names that are imported when they are first used, so that a package costs what is used of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def importing(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package whose names live in its modules.

    Args:
        package: its name.
        homes: the names by module; ``"load as load_settings"`` is the module's ``load`` under another name.
    """
    home_of: dict[str, tuple[str, str]] = {}
    for module, names in homes.items():
        for each in names:
            original, _, name = each.partition(" as ")
            home_of[name or original] = (module, original)

    def get(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import importlib  # noqa: PLC0415
        import sys  # noqa: PLC0415

        home, original = home_of[name]
        try:
            module = importlib.import_module(f"{package}.{home}")
        except OSError as error:  # no descriptor is left to read it with
            from spillstore.exceptions import StorageError  # noqa: PLC0415  # who uses the store has it by now

            raise StorageError(f"{package}.{name} cannot be imported: {error}") from error
        value = getattr(module, original)
        setattr(sys.modules[package], name, value)
        return value

    return get

"""Objects that are installed for a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

INSTALL = "/testing/install"


@dataclass
class Installation:
    """Objects that were installed together. It ends with the ``with`` block of :meth:`Server.install`.

    :ivar objects: in the order in which they were installed, each with ``apiVersion``, ``kind``, ``namespace``, ``name``
        and ``created``
    """

    name: str
    objects: list[dict[str, Any]]
    _call: Callable[[str, str], Any]
    _is_removed: bool = False

    def remove(self) -> None:
        """Deletes the objects that were created, the last one first. Removing them again does nothing."""
        if not self._is_removed:
            self._is_removed = True
            self._call("DELETE", f"{INSTALL}/{self.name}")

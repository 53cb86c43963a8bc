"""States of a server to which it can return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SNAPSHOTS = "/testing/snapshots"


@dataclass(frozen=True)
class Snapshot:
    """The objects that a server had when :meth:`Server.snapshot` was called."""

    name: str
    resource_version: str
    _call: Callable[[str, str], Any]

    def restore(self) -> None:
        """Gives the server these objects. Watches end with the error 410, and clients list again."""
        self._call("POST", f"{SNAPSHOTS}/{self.name}/restore")

    def delete(self) -> None:
        """Forgets the snapshot."""
        self._call("DELETE", f"{SNAPSHOTS}/{self.name}")

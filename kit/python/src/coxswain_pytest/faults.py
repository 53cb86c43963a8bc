"""Rules that make requests fail on order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FaultRule:
    """A rule of a server. Its end is that of the ``with`` block of :meth:`Server.fault`."""

    id: str
    _call: Callable[[str, str], Any]

    def hits(self) -> int:
        """How often the fault has happened."""
        hits: int = self._call("GET", f"/testing/faults/{self.id}")["hits"]
        return hits

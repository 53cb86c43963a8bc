"""Rules that make requests fail on order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FAULTS = "/testing/faults"


@dataclass
class FaultRule:
    """A rule of a server. It ends with the ``with`` block of :meth:`Server.fault`, or when it is removed."""

    id: str
    _call: Callable[[str, str], Any]
    _is_removed: bool = False

    def hits(self) -> int:
        """How often the fault has happened."""
        hits: int = self._call("GET", f"{FAULTS}/{self.id}")["hits"]
        return hits

    def remove(self) -> None:
        """Ends the rule. Removing it again does nothing."""
        if not self._is_removed:
            self._is_removed = True
            self._call("DELETE", f"{FAULTS}/{self.id}")

    def has_no_hits(self) -> bool:
        """Whether it is not removed, and the fault has not happened."""
        return not self._is_removed and self.hits() == 0

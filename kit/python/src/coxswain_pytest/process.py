"""The process ``coxswain test --until-stdin-closes``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from queue import Empty, Queue
from typing import IO

START_TIMEOUT_SECONDS = 60
STOP_TIMEOUT_SECONDS = 20
STDERR_LINES_MAX = 200


class CoxswainError(Exception):
    """The server did not start, or rejected a request."""


class Process:
    """A running server. Its end is the end of this object's standard input pipe."""

    def __init__(self, program: str | None, flags: Sequence[str]) -> None:
        path = find_program(program)
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES_MAX)
        pipe = subprocess.PIPE
        command = [path, "test", "--until-stdin-closes", *flags]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        announced = self._announced(path)
        self.url: str = announced["url"]
        self.kubeconfig: str = announced["kubeconfig"]

    def _announced(self, path: str) -> dict[str, str]:
        lines: Queue[str] = Queue()
        reading = threading.Thread(target=self._read_stderr, daemon=True)
        reading.start()
        threading.Thread(target=lambda: lines.put(_stream(self._process.stdout).readline()), daemon=True).start()
        try:
            line = lines.get(timeout=START_TIMEOUT_SECONDS)
        except Empty:
            self._process.kill()
            raise CoxswainError(f"{path} did not start a server within {START_TIMEOUT_SECONDS} s") from None
        try:
            announced: dict[str, str] = json.loads(line)
            return {"url": announced["url"], "kubeconfig": announced["kubeconfig"]}
        except (ValueError, KeyError, TypeError):
            self.stop()
            reading.join()
            raise CoxswainError(f"{path} did not start a server: {self.stderr()} {line}".strip()) from None

    def _read_stderr(self) -> None:
        for line in _stream(self._process.stderr):
            self._stderr.append(line)

    def stderr(self) -> str:
        """The last lines that the server has written to standard error."""
        return "".join(self._stderr).strip()

    def stop(self) -> int:
        """Ends the server and returns its exit code."""
        try:
            _stream(self._process.stdin).close()
        except BrokenPipeError:
            pass  # The process has ended.
        try:
            return self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise CoxswainError(f"coxswain did not end within {STOP_TIMEOUT_SECONDS} s") from None


def find_program(program: str | None) -> str:
    """The path of the program: as passed, of the environment variable COXSWAIN, or ``coxswain`` in PATH."""
    name = program or os.environ.get("COXSWAIN") or "coxswain"
    path = shutil.which(name)
    if path is None:
        raise CoxswainError(f"{name} is not found: set COXSWAIN to the path of the program coxswain")
    return path


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream

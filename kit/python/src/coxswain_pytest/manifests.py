"""Manifests in files and folders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

Source: TypeAlias = "str | Path | Mapping[str, Any]"
"""The path of a file or of a folder with .yaml, .yml and .json files, or an object. A file has any number of documents."""

BYTES_MAX = 16 << 20


def stream_of(sources: Iterable[Source]) -> bytes:
    """All objects as one YAML stream.

    :raises OSError: if a file cannot be read
    :raises ValueError: if a folder has no manifest, or there is more than the server accepts
    """
    texts = [text for source in sources for text in _texts(source)]
    stream = b"".join(b"---\n" + text + b"\n" for text in texts)
    if len(stream) > BYTES_MAX:
        raise ValueError(f"the manifests have more than {BYTES_MAX >> 20} MiB")
    return stream


def objects_of(sources: Iterable[Source]) -> list[dict[str, Any]]:
    """All objects."""
    return [document for document in yaml.safe_load_all(stream_of(sources)) if document is not None]


def _texts(source: Source) -> list[bytes]:
    if isinstance(source, Mapping):
        return [json.dumps(source).encode()]
    path = Path(source)
    if not path.is_dir():
        return [path.read_bytes()]
    files = sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml", ".json") and file.is_file())
    if not files:
        raise ValueError(f"{path} has no .yaml, .yml or .json file")
    return [file.read_bytes() for file in files]

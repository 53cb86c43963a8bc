"""Webhooks of tests: functions, and servers of their own."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

from .manifests import Source, objects_of

WEBHOOKS = "/testing/webhooks"
REVIEW_BYTES_MAX = 16 << 20
KINDS = {"ValidatingWebhookConfiguration": "validating", "MutatingWebhookConfiguration": "mutating"}

Review: TypeAlias = "Callable[[dict[str, Any]], Mapping[str, Any] | None]"
"""Gets the ``request`` of a review, and returns the ``response``, without ``uid``. None allows a request."""


@dataclass(frozen=True)
class WebhookServing:
    """Where a webhook server of a test listens, and its certificate."""

    host: str
    port: int
    cert_file: Path
    key_file: Path
    ca_file: Path

    @property
    def url(self) -> str:
        """Such as ``https://127.0.0.1:40123``."""
        return f"https://{self.host}:{self.port}"


def write_serving(directory: Path, issued: Mapping[str, str]) -> WebhookServing:
    """Writes a certificate into a folder, and finds a port that is free."""
    files = {name: directory / name for name in ("tls.crt", "tls.key", "ca.crt")}
    for name, field in (("tls.crt", "certificate"), ("tls.key", "key"), ("ca.crt", "ca")):
        files[name].touch(mode=0o600)
        files[name].write_text(issued[field])
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return WebhookServing("127.0.0.1", port, files["tls.crt"], files["tls.key"], files["ca.crt"])


def specs_of(source: Source, namespace: str | None) -> list[tuple[dict[str, Any], str]]:
    """The webhooks of a source, as the control of the server accepts them, with the paths of their servers."""
    if isinstance(source, Mapping) and "kind" not in source:
        return [(dict(source), "")]
    specs: list[tuple[dict[str, Any], str]] = []
    for item in objects_of([source]):
        for entry in item.get("webhooks") or []:
            fields = {name: value for name, value in entry.items() if name != "clientConfig"}
            if namespace is not None:
                fields["namespace"] = namespace
            specs.append(({KINDS[item["kind"]]: fields}, _path(entry["clientConfig"])))
        conversion = (item.get("spec") or {}).get("conversion") or {}
        if item["kind"] == "CustomResourceDefinition" and "webhook" in conversion:
            webhook = conversion["webhook"]
            versions = webhook["conversionReviewVersions"]
            spec = {"definition": item["metadata"]["name"], "conversionReviewVersions": versions}
            specs.append(({"conversion": spec}, _path(webhook["clientConfig"])))
    if not specs:
        raise ValueError(f"there is no webhook in {source}")
    return specs


def _path(config: Mapping[str, Any]) -> str:
    path: str = config.get("service", {}).get("path", "")
    return path


@contextmanager
def serving(review: Review) -> Iterator[str]:
    """Answers reviews with a function within a ``with`` block. The value is the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            text = self.rfile.read(length) if length <= REVIEW_BYTES_MAX else b""
            try:
                answer, status = _answer(json.loads(text), review), 200
            except Exception as error:  # The function failed: the server reports its message.
                answer, status = f"{type(error).__name__}: {error}".encode(), 500
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if status == 200 else "text/plain")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _answer(body: Mapping[str, Any], review: Review) -> bytes:
    request = body["request"]
    default = {"result": {"status": "Success"}} if body["kind"] == "ConversionReview" else {"allowed": True}
    response = {**default, **(review(request) or {}), "uid": request["uid"]}
    return json.dumps({"apiVersion": body["apiVersion"], "kind": body["kind"], "response": response}).encode()

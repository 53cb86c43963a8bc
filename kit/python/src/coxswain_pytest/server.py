"""A server for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import urllib3
import yaml
from kubernetes import client, config

from .faults import FAULTS, FaultRule
from .installations import INSTALL, Installation
from .manifests import Source, stream_of
from .process import CoxswainError, Process
from .snapshots import SNAPSHOTS, Snapshot
from .webhooks import WEBHOOKS, Review, WebhookServing, serving, specs_of, write_serving

__all__ = ["CoxswainError", "Server"]

CLOCK = "/testing/clock"

_load_kubeconfig: Callable[..., None] = config.load_kube_config  # The package has no types for it.


class Server:
    """A running server in memory.

    :ivar url: the address, such as ``https://127.0.0.1:40123``
    :ivar kubeconfig: the path of a file whose user is in the group ``system:masters``; it is removed at the end
    """

    def __init__(
        self, program: str | None = None, flags: Sequence[str] = (), kubernetes_version: str | None = None
    ) -> None:
        """Starts a server.

        :param program: the path of ``coxswain``; by default that of the environment variable COXSWAIN, or PATH
        :param flags: flags of the server, such as ``--authorization-mode=AlwaysAllow``
        :param kubernetes_version: a release to emulate, such as ``1.34``: its resources, feature gates and defaults
        :raises CoxswainError: if the program is not found, or the server does not start
        """
        version = [] if kubernetes_version is None else [f"--kubernetes-version={kubernetes_version}"]
        self._process = Process(program, [*version, *flags])
        self._snapshots = count(1)
        self.url = self._process.url
        self.kubeconfig = self._process.kubeconfig
        settings = self._settings()
        self._pool = urllib3.PoolManager(
            ca_certs=settings.ssl_ca_cert,
            cert_file=settings.cert_file,
            key_file=settings.key_file,
            headers={"User-Agent": "coxswain-pytest"},
            retries=False,
        )

    def api_client(self) -> client.ApiClient:
        """A new client of the official package, whose user is in the group ``system:masters``."""
        return client.ApiClient(self._settings())

    def as_service_account(self, namespace: str, name: str) -> client.ApiClient:
        """A new client that sends a token of a ServiceAccount, which is created unless it exists.

        The account has the rights that roles of the server grant to it, and no others. The token expires an hour
        later, by the time of the server.

        :raises CoxswainError: if there is no such namespace
        """
        return client.ApiClient(self._settings(self._token_of(namespace, name)))

    def write_kubeconfig(self, path: Path, namespace: str, name: str) -> Path:
        """Writes a kubeconfig with such a token, for programs that a test runs.

        :returns: the path
        :raises CoxswainError: if there is no such namespace
        """
        settings = yaml.safe_load(Path(self.kubeconfig).read_text())
        settings["users"][0]["user"] = {"token": self._token_of(namespace, name)}
        path.touch(mode=0o600)
        path.write_text(json.dumps(settings))
        return path

    def _token_of(self, namespace: str, name: str) -> str:
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        try:
            self.call("POST", accounts, {"metadata": {"name": name}})
        except CoxswainError as problem:
            try:
                self.call("GET", f"{accounts}/{name}")
            except CoxswainError:
                raise problem from None
        token: str = self.call("POST", f"{accounts}/{name}/token", {"spec": {}})["status"]["token"]
        return token

    def _settings(self, token: str | None = None) -> client.Configuration:
        """How clients of the package connect: as the user of the kubeconfig, or with a token."""
        settings = client.Configuration()
        _load_kubeconfig(config_file=self.kubeconfig, client_configuration=settings)
        if token is not None:
            settings.cert_file = settings.key_file = None
            settings.api_key = {"authorization": f"Bearer {token}"}
        return settings

    def mark(self) -> int:
        """The current end of the timeline."""
        mark: int = self.call("GET", f"/testing/timeline?since={1 << 49}")["mark"]
        return mark

    def timeline(self, since: int = 0) -> str:
        """The requests of all clients since a mark, as text, with their results and what they changed.

        Values of Secrets are not part of it.
        """
        return self._send("GET", f"/testing/timeline?since={since}", None, "text/plain").decode()

    @contextmanager
    def fault(self, match: Mapping[str, object], fault: Mapping[str, object]) -> Iterator[FaultRule]:
        """Makes requests fail within a ``with`` block.

        :param match: which requests, such as ``{"verb": "update", "resource": "configmaps", "count": 1}``
        :param fault: what happens to them, such as ``{"type": "conflict"}``
        :raises CoxswainError: if the server rejects the rule, or at the end if the fault has not happened and the match
            does not have ``"optional": True``
        """
        body = {"rules": [{"match": dict(match), "fault": dict(fault)}]}
        rule = FaultRule(self.call("POST", FAULTS, body)["rules"][0]["id"], self.call)
        try:
            yield rule
        except BaseException:
            rule.remove()
            raise
        is_unused = rule.has_no_hits() and not match.get("optional")
        rule.remove()
        if is_unused:
            text = f"the fault {fault.get('type')} never happened, for {dict(match)}"
            raise CoxswainError(f"{text}; if that is right, set optional to True")

    def faults(self) -> list[dict[str, Any]]:
        """The rules of the server, each with ``id``, ``match``, ``fault`` and ``hits``."""
        rules: list[dict[str, Any]] = self.call("GET", FAULTS)["rules"]
        return rules

    @contextmanager
    def install(self, *sources: Source, namespace: str = "default") -> Iterator[Installation]:
        """Installs objects within a ``with`` block: definitions of custom resources first, whose kinds are then served.

        Then come namespaces, then the others. An object that exists is changed as by a forced server-side apply. All
        objects are installed or none. Configurations of webhooks are for :meth:`webhook`.

        :param sources: paths of files and folders, and objects
        :param namespace: that of objects that need one and name none
        :raises CoxswainError: if the server rejects an object; the others are removed again
        """
        path = f"{INSTALL}?namespace={quote(namespace, safe='')}"
        answer = json.loads(self._send("POST", path, stream_of(sources), "application/json", "application/yaml"))
        installation = Installation(answer["name"], answer["objects"], self.call)
        try:
            yield installation
        finally:
            installation.remove()

    @contextmanager
    def webhook(self, source: Source, target: Review | str, namespace: str | None = None) -> Iterator[None]:
        """Makes the server call webhooks within a ``with`` block.

        :param source: one webhook, such as ``{"validating": {"rules": [{"resources": ["pods"]}]}}`` or
            ``{"conversion": {"definition": "widgets.example.com"}}``, or manifests: ValidatingWebhookConfigurations,
            MutatingWebhookConfigurations, and CustomResourceDefinitions with a conversion
        :param target: a function, which gets the ``request`` of each review and returns its ``response``, where None
            allows a request; or the URL of a server, to which the path of ``clientConfig`` is added
        :param namespace: limits the admission of manifests to its objects
        :raises CoxswainError: if the server rejects a webhook, or none listens at the URL
        """
        with ExitStack() as stack:
            url = target if isinstance(target, str) else stack.enter_context(serving(target))
            for spec, path in specs_of(source, namespace):
                added = self.call("POST", WEBHOOKS, {**spec, "url": url + path})
                stack.callback(self.call, "DELETE", f"{WEBHOOKS}/{added['name']}")
            yield

    def webhook_serving(self, directory: Path) -> WebhookServing:
        """Issues a certificate for a webhook server of a test, in a folder that exists, and finds a port for it."""
        body = {"hosts": ["127.0.0.1", "localhost"]}
        return write_serving(directory, self.call("POST", "/testing/certificates", body))

    def snapshot(self) -> Snapshot:
        """Takes a snapshot of all objects. A server keeps at most 100."""
        name = f"coxswain-pytest-{next(self._snapshots)}"
        taken = self.call("POST", SNAPSHOTS, {"name": name})
        return Snapshot(name, taken["resourceVersion"], self.call)

    def now(self) -> datetime:
        """The time of the server."""
        return datetime.fromisoformat(self.call("GET", CLOCK)["now"].replace("Z", "+00:00"))

    def advance(self, span: timedelta) -> None:
        """Moves the time of a server with the flag ``--virtual-clock``, by whole milliseconds.

        At the end, the server has done what was due until then, such as deleting Events whose time is over. A day
        takes seconds.

        :raises CoxswainError: if the server has the real clock, or the span is negative
        """
        self.call("POST", CLOCK, {"advance": round(span / timedelta(milliseconds=1))})

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Sends a request with a JSON body, and returns the decoded answer, which is None if it is empty.

        :raises CoxswainError: with the message of the server, if the status code is not 2xx
        """
        encoded = None if body is None else json.dumps(body).encode()
        answer = self._send(method, path, encoded, "application/json")
        return json.loads(answer) if answer else None

    def _send(
        self, method: str, path: str, body: bytes | None, accept: str, media_type: str = "application/json"
    ) -> bytes:
        headers = {"Accept": accept, "User-Agent": "coxswain-pytest"}
        if body is not None:
            headers["Content-Type"] = media_type
        response = self._pool.request(method, self.url + path, body=body, headers=headers)
        if response.status // 100 != 2:
            raise CoxswainError(f"{method} {path}: {_problem(response.status, response.data)}")
        return response.data

    def close(self) -> None:
        """Ends the server, its open requests and watches."""
        self._pool.clear()
        code = self._process.stop()
        if code != 0:
            raise CoxswainError(f"coxswain ended with code {code}: {self._process.stderr()}")


def _problem(status: int, answer: bytes) -> str:
    """The message of a Status, or else the status code."""
    try:
        message = json.loads(answer)["message"]
    except (ValueError, KeyError, TypeError):
        return str(status)
    return str(message)

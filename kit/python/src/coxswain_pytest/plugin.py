"""The fixtures, and the timeline in the report of a failed test."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

import pytest
from kubernetes import client

from .server import CoxswainError, Server

TIMELINE_CHARACTERS_MAX = 64 << 10

_server = pytest.StashKey[Server]()
_mark = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("coxswain_program", "the path of coxswain; by default that of COXSWAIN, or PATH")
    parser.addini("coxswain_flags", "flags of the server", type="args")
    parser.addini("coxswain_kubernetes_version", "the release of Kubernetes to emulate, such as 1.34")


@pytest.fixture(scope="session")
def coxswain_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A server for the session. With pytest-xdist, each worker has its own."""
    program, flags = pytestconfig.getini("coxswain_program"), pytestconfig.getini("coxswain_flags")
    version = pytestconfig.getini("coxswain_kubernetes_version")
    try:
        server = Server(program or None, flags, version or None)
    except CoxswainError as error:
        pytest.fail(str(error), pytrace=False)
    pytestconfig.stash[_server] = server
    yield server
    del pytestconfig.stash[_server]
    server.close()


@pytest.fixture(scope="session")
def coxswain_client(coxswain_server: Server) -> Iterator[client.ApiClient]:
    """A client of the package ``kubernetes``, whose user is in the group ``system:masters``."""
    with coxswain_server.api_client() as api_client:
        yield api_client


@pytest.fixture
def coxswain_namespace(coxswain_server: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a new namespace, which is deleted after the test."""
    prefix = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-") or "test"
    body = {"metadata": {"generateName": f"{prefix}-"}}
    name: str = coxswain_server.call("POST", "/api/v1/namespaces", body)["metadata"]["name"]
    yield name
    coxswain_server.call("DELETE", f"/api/v1/namespaces/{name}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    server = item.config.stash.get(_server, None)
    item.stash[_mark] = server.mark() if server is not None and _uses_server(item) else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    server = item.config.stash.get(_server, None)
    if report.failed and server is not None and _uses_server(item):
        report.sections.append(("coxswain timeline", _bounded(_timeline(server, item.stash.get(_mark, 0)))))
    return report


def _uses_server(item: pytest.Item) -> bool:
    return "coxswain_server" in getattr(item, "fixturenames", ())


def _timeline(server: Server, since: int) -> str:
    try:
        return server.timeline(since)
    except Exception as error:  # The report of the test matters more, whatever happened to the server.
        return f"no timeline: {error}"


def _bounded(text: str) -> str:
    over = len(text) - TIMELINE_CHARACTERS_MAX
    return text if over <= 0 else f"({over} earlier characters)\n{text[over:]}"

from collections.abc import Iterator
from datetime import timedelta

import pytest
from coxswain_pytest import CoxswainError, Server
from kubernetes import client


@pytest.fixture(scope="module")
def stopped() -> Iterator[Server]:
    server = Server(flags=["--virtual-clock"])
    yield server
    server.close()


def test_events_are_gone_after_an_hour(stopped: Server) -> None:
    with stopped.api_client() as api_client:
        core = client.CoreV1Api(api_client)
        involved = {"kind": "ConfigMap", "namespace": "default", "name": "b"}
        core.create_namespaced_event("default", {"metadata": {"name": "a"}, "involvedObject": involved})
        stopped.advance(timedelta(hours=1))
        with pytest.raises(client.ApiException, match="NotFound"):
            core.read_namespaced_event("a", "default")


def test_now(stopped: Server) -> None:
    before = stopped.now()
    stopped.advance(timedelta(seconds=1.5))
    assert stopped.now() - before == timedelta(seconds=1.5)


def test_the_time_does_not_move_back(stopped: Server) -> None:
    with pytest.raises(CoxswainError, match="positive"):
        stopped.advance(timedelta(seconds=-1))


def test_the_real_clock_does_not_advance(coxswain_server: Server) -> None:
    with pytest.raises(CoxswainError, match="--virtual-clock"):
        coxswain_server.advance(timedelta(hours=1))

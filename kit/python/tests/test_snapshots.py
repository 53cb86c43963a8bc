from collections.abc import Iterator

import pytest
from coxswain_pytest import CoxswainError, Server
from kubernetes import client


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """A restore changes the objects of all tests."""
    server = Server()
    yield server
    server.close()


def test_a_snapshot_is_restored(own: Server) -> None:
    with own.api_client() as api_client:
        core = client.CoreV1Api(api_client)
        prepared = own.snapshot()
        for _ in range(2):
            core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
            prepared.restore()
            with pytest.raises(client.ApiException, match="NotFound"):
                core.read_namespaced_config_map("a", "default")
    prepared.delete()
    with pytest.raises(CoxswainError, match="there is no such snapshot"):
        prepared.restore()

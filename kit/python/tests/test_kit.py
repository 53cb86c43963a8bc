"""The kit with the package ``kubernetes``."""

import os
import socket
import stat
from urllib.parse import urlsplit

import pytest
from coxswain_pytest import CoxswainError, Server
from kubernetes import client, watch


def config_map(name: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name))


def test_client(coxswain_client: client.ApiClient, coxswain_namespace: str) -> None:
    core = client.CoreV1Api(coxswain_client)
    core.create_namespaced_config_map(coxswain_namespace, config_map("a"))
    for event in watch.Watch().stream(core.list_namespaced_config_map, coxswain_namespace, field_selector="metadata.name=a"):
        assert (event["type"], event["object"].metadata.name) == ("ADDED", "a")
        break
    with pytest.raises(client.ApiException) as invalid:
        core.create_namespaced_config_map(coxswain_namespace, config_map("Not_Valid"))
    assert invalid.value.status == 422


def test_namespace_is_named_after_the_test(coxswain_namespace: str) -> None:
    assert coxswain_namespace.startswith("test-namespace-is-named-after-the-test-")


def test_server_ends() -> None:
    server = Server()
    assert stat.S_IMODE(os.stat(server.kubeconfig).st_mode) == 0o600
    address = urlsplit(server.url)
    server.close()
    with pytest.raises(OSError):
        socket.create_connection((address.hostname, address.port), timeout=1)
    assert not os.path.exists(server.kubeconfig)


@pytest.mark.parametrize(
    ("program", "flags", "message"),
    [
        ("/nothing", [], "/nothing is not found: set COXSWAIN"),
        ("true", [], "did not start a server"),
        (None, ["--secure-prot=1"], "Error: unknown option '--secure-prot=1'"),
    ],
)
def test_errors_of_a_start(program: str | None, flags: list[str], message: str) -> None:
    with pytest.raises(CoxswainError, match=message):
        Server(program, flags)


def test_timeline_of_a_failed_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from kubernetes import client

        def test_before(coxswain_client):
            client.CoreV1Api(coxswain_client).list_node()

        def test_well(coxswain_client, coxswain_namespace):
            client.CoreV1Api(coxswain_client).list_namespaced_secret(coxswain_namespace)

        def test_fails(coxswain_client, coxswain_namespace):
            core = client.CoreV1Api(coxswain_client)
            core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "a"}})
            assert core.list_namespaced_config_map(coxswain_namespace).items == []
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*coxswain timeline*", "*configmaps*"])
    result.stdout.no_fnmatch_line("*nodes*")
    result.stdout.no_fnmatch_line("*secrets*")


def test_unknown_program_fails_the_tests(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncoxswain_program = /nothing")
    pytester.makepyfile("def test_server(coxswain_server): pass")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*/nothing is not found: set COXSWAIN*"])

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
import web_operator
from coxswain_pytest import Server
from kubernetes import client

FOLDER = Path(__file__).parent
DATA = {"image": "web:1", "title": "Tea & Coffee"}
TIMEOUT_SECONDS = 60


# A mock accepts what a server rejects: the test passes in spite of the bug.
@pytest.mark.parametrize("label", ["shop", "Tea & Coffee"], ids=["correct", "with the bug"])
def test_create_with_mock(label: str) -> None:
    body = {"metadata": {"name": "shop", "uid": "1"}, "apiVersion": "v1", "kind": "ConfigMap", "data": DATA}
    with (
        mock.patch.object(client, "AppsV1Api") as api,
        mock.patch.object(web_operator, "labels_of", return_value={"site": label}),
    ):
        web_operator.create_deployment(name="shop", namespace="default", body=body)
    namespace, deployment = api.return_value.create_namespaced_deployment.call_args.args
    assert (namespace, deployment["metadata"]["name"]) == ("default", "shop")


def test_create(coxswain_server: Server, coxswain_client: client.ApiClient, coxswain_namespace: str) -> None:
    with running("web_operator.py", coxswain_server, coxswain_namespace):
        assert "→ 201" in first_create(coxswain_server, coxswain_client, coxswain_namespace)
    deployment = client.AppsV1Api(coxswain_client).read_namespaced_deployment("shop", coxswain_namespace)
    assert deployment.metadata.labels["site"] == "shop"
    assert deployment.metadata.owner_references[0].kind == "ConfigMap"


# The same steps find the bug.
def test_create_finds_the_bug(
    coxswain_server: Server, coxswain_client: client.ApiClient, coxswain_namespace: str
) -> None:
    with running("first_version.py", coxswain_server, coxswain_namespace):
        create = first_create(coxswain_server, coxswain_client, coxswain_namespace)
    assert "→ 422 Invalid" in create
    assert "metadata.labels" in create


@contextmanager
def running(program: str, server: Server, namespace: str) -> Iterator[None]:
    """Runs the operator as its users do."""
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", namespace, program]
    operator = subprocess.Popen(command, cwd=FOLDER, env={"KUBECONFIG": server.kubeconfig})
    try:
        yield
    finally:
        operator.terminate()
        operator.wait()


def first_create(server: Server, api_client: client.ApiClient, namespace: str) -> str:
    """Creates a ConfigMap, and returns the line of the timeline with the request for its Deployment."""
    mark = server.mark()
    body = {"metadata": {"name": "shop", "labels": {"app": "web"}}, "data": DATA}
    client.CoreV1Api(api_client).create_namespaced_config_map(namespace, body)
    until = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < until:
        for line in server.timeline(mark).splitlines():
            if "create deployments.apps" in line and "→ " in line:
                return line
        time.sleep(0.05)
    pytest.fail("the operator creates no Deployment")

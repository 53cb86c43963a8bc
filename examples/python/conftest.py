"""What the tests share: a server with the definition and the roles of the operator."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from coxswain_pytest import Server
from kubernetes import client, config

FOLDER = Path(__file__).parent
CONFIG = FOLDER / "config"


@pytest.fixture(scope="session", autouse=True)
def installed(coxswain_server: Server) -> Iterator[None]:
    config.load_kube_config(coxswain_server.kubeconfig)  # For handlers that a test calls itself.
    with coxswain_server.install(CONFIG / "crd.yaml", CONFIG / "rbac.yaml"):
        yield


@pytest.fixture
def custom(coxswain_client: client.ApiClient) -> client.CustomObjectsApi:
    return client.CustomObjectsApi(coxswain_client)


@pytest.fixture
def operator(coxswain_server: Server, coxswain_namespace: str, tmp_path: Path) -> Iterator[None]:
    """Runs the operator as its users do, with the rights of its ServiceAccount, for the websites of the test."""
    serving = coxswain_server.webhook_serving(tmp_path)
    kubeconfig = coxswain_server.write_kubeconfig(tmp_path / "kubeconfig", "website-operator", "operator")
    environment = {
        **os.environ,
        "KUBECONFIG": str(kubeconfig),
        "WEBHOOK_CERTIFICATES": str(tmp_path),
        "WEBHOOK_LOCAL": "1",
        "WEBHOOK_PORT": str(serving.port),
    }
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", coxswain_namespace]
    process = subprocess.Popen([*command, "website_operator.py"], cwd=FOLDER, env=environment)
    try:
        with coxswain_server.webhook(CONFIG / "webhook.yaml", serving.url, namespace=coxswain_namespace):
            yield
    finally:
        process.terminate()
        process.wait()

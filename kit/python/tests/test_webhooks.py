import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from coxswain_pytest import CoxswainError, Server
from kubernetes import client

DATA = Path(__file__).parent / "testdata"


def rejection(request: dict[str, Any]) -> dict[str, Any] | None:
    return {"allowed": False, "status": {"message": "this name is not good"}} if request["name"] == "bad" else None


@pytest.fixture
def core(coxswain_client: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(coxswain_client)


def test_a_function_validates(coxswain_server: Server, core: client.CoreV1Api, coxswain_namespace: str) -> None:
    webhook = {"validating": {"rules": [{"resources": ["configmaps"]}], "namespace": coxswain_namespace}}
    with coxswain_server.webhook(webhook, rejection):
        core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "good"}})
        with pytest.raises(client.ApiException, match="this name is not good"):
            core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "bad"}})
    core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "bad"}})


def test_a_function_has_the_webhook_of_a_manifest(
    coxswain_server: Server, core: client.CoreV1Api, coxswain_namespace: str
) -> None:
    with coxswain_server.webhook(DATA / "webhook.yaml", rejection, namespace=coxswain_namespace):
        with pytest.raises(client.ApiException, match='admission webhook \\\\"names.example.com\\\\" denied'):
            core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "bad"}})


def test_the_error_of_a_function_is_reported(
    coxswain_server: Server, core: client.CoreV1Api, coxswain_namespace: str
) -> None:
    def broken(request: dict[str, Any]) -> None:
        raise KeyError(request["namespace"])

    webhook = {"validating": {"rules": [{"resources": ["configmaps"]}], "namespace": coxswain_namespace}}
    with coxswain_server.webhook(webhook, broken), pytest.raises(client.ApiException, match=f"KeyError: .{coxswain_namespace}"):
        core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "a"}})


def test_a_function_converts(coxswain_server: Server, coxswain_client: client.ApiClient, coxswain_namespace: str) -> None:
    def convert(request: dict[str, Any]) -> dict[str, Any]:
        return {"convertedObjects": [{**item, "apiVersion": request["desiredAPIVersion"]} for item in request["objects"]]}

    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    names = {"kind": "Gadget", "plural": "gadgets"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions},
    }
    gadget = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}}
    custom = client.CustomObjectsApi(coxswain_client)
    with (
        coxswain_server.install(definition, gadget, namespace=coxswain_namespace),
        coxswain_server.webhook({"conversion": {"definition": "gadgets.example.com"}}, convert),
    ):
        read = custom.get_namespaced_custom_object("example.com", "v2", coxswain_namespace, "gadgets", "a")
    assert read["apiVersion"] == "example.com/v2"


class Rejecting(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response = {"uid": review["request"]["uid"], "allowed": False, "status": {"message": f"by {self.path}"}}
        answer = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def test_a_server_has_the_webhooks_of_a_manifest(
    coxswain_server: Server, core: client.CoreV1Api, coxswain_namespace: str, tmp_path: Path
) -> None:
    serving = coxswain_server.webhook_serving(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(serving.cert_file, serving.key_file)
    with HTTPServer((serving.host, serving.port), Rejecting) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with coxswain_server.webhook(DATA, serving.url, namespace=coxswain_namespace):
            with pytest.raises(client.ApiException, match="by /validate"):
                core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "a"}})
        server.shutdown()


def test_errors(coxswain_server: Server) -> None:
    with pytest.raises(ValueError, match="there is no webhook in"), coxswain_server.webhook(DATA / "crd.yaml", rejection):
        pass
    with pytest.raises(CoxswainError, match="rules"), coxswain_server.webhook({"validating": {}}, rejection):
        pass

from pathlib import Path

import pytest
from coxswain_pytest import CoxswainError, Server
from kubernetes import client

DATA = Path(__file__).parent / "testdata"


def test_a_file_is_installed_within_a_block(
    coxswain_server: Server, coxswain_client: client.ApiClient, coxswain_namespace: str
) -> None:
    custom = client.CustomObjectsApi(coxswain_client)
    widget = ("example.com", "v1", coxswain_namespace, "widgets", "first")
    with coxswain_server.install(DATA / "crd.yaml", namespace=coxswain_namespace) as installation:
        assert [item["kind"] for item in installation.objects] == ["CustomResourceDefinition", "Widget"]
        assert custom.get_namespaced_custom_object(*widget)["spec"] == {"size": 1}
    with pytest.raises(client.ApiException, match="Not Found"):
        custom.get_namespaced_custom_object(*widget)


def test_objects_that_exist_stay(
    coxswain_server: Server, coxswain_client: client.ApiClient, coxswain_namespace: str
) -> None:
    core = client.CoreV1Api(coxswain_client)
    core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "a"}})
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "c"}}
    with coxswain_server.install(config_map, namespace=coxswain_namespace) as installation:
        installation.remove()
    assert core.read_namespaced_config_map("a", coxswain_namespace).data == {"b": "c"}


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("nowhere.yaml", OSError, "No such file"),
        ({"apiVersion": "a/v1", "kind": "B", "metadata": {"name": "c"}}, CoxswainError, "no kind B of a/v1"),
        ({"apiVersion": "v1"}, CoxswainError, "kind"),
    ],
)
def test_errors(coxswain_server: Server, source: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message), coxswain_server.install(source):
        pass


def test_a_folder_needs_a_manifest(coxswain_server: Server, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no .yaml, .yml or .json file"), coxswain_server.install(tmp_path):
        pass

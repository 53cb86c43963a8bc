from kubernetes import client


def test_create(coxswain_client: client.ApiClient, coxswain_namespace: str) -> None:
    core = client.CoreV1Api(coxswain_client)
    core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "a"}})
    assert core.read_namespaced_config_map("a", coxswain_namespace).data is None

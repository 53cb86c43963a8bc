import stat
from datetime import timedelta
from pathlib import Path

import pytest
from coxswain_pytest import CoxswainError, Server
from kubernetes import client, config


def user_of(api_client: client.ApiClient) -> client.V1UserInfo:
    reviews = client.AuthenticationV1Api(api_client)
    return reviews.create_self_subject_review(client.V1SelfSubjectReview()).status.user_info


def test_rights_are_those_of_its_roles(
    coxswain_server: Server, coxswain_client: client.ApiClient, coxswain_namespace: str
) -> None:
    with coxswain_server.as_service_account(coxswain_namespace, "operator") as own:
        assert user_of(own).username == f"system:serviceaccount:{coxswain_namespace}:operator"
        core = client.CoreV1Api(own)
        with pytest.raises(client.ApiException, match="Forbidden"):
            core.list_namespaced_config_map(coxswain_namespace)
        rbac = client.RbacAuthorizationV1Api(coxswain_client)
        binding = {
            "metadata": {"name": "operator"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": coxswain_namespace}],
        }
        rbac.create_namespaced_role_binding(coxswain_namespace, binding)
        core.list_namespaced_config_map(coxswain_namespace)
        with pytest.raises(client.ApiException, match="Forbidden"):
            core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "a"}})


def test_an_account_that_exists_is_used(coxswain_server: Server, coxswain_namespace: str) -> None:
    def uid() -> str:
        with coxswain_server.as_service_account(coxswain_namespace, "operator") as own:
            return user_of(own).uid

    assert uid() == uid()


def test_a_kubeconfig_has_a_token(coxswain_server: Server, coxswain_namespace: str, tmp_path: Path) -> None:
    path = coxswain_server.write_kubeconfig(tmp_path / "kubeconfig", coxswain_namespace, "operator")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with config.new_client_from_config(str(path)) as own:
        assert user_of(own).username == f"system:serviceaccount:{coxswain_namespace}:operator"


def test_tokens_expire_by_the_time_of_the_server() -> None:
    server = Server(flags=["--virtual-clock"])
    with server.as_service_account("default", "operator") as own:
        user_of(own)
        server.advance(timedelta(minutes=61))
        with pytest.raises(client.ApiException, match="Unauthorized"):
            user_of(own)
    server.close()


def test_an_account_needs_its_namespace(coxswain_server: Server) -> None:
    with pytest.raises(CoxswainError, match='namespaces "nowhere" not found'):
        coxswain_server.as_service_account("nowhere", "operator")

import pytest
from coxswain_pytest import CoxswainError, Server
from kubernetes import client


def test_update_is_retried(
    coxswain_server: Server, coxswain_client: client.ApiClient, coxswain_namespace: str
) -> None:
    core = client.CoreV1Api(coxswain_client)
    created = core.create_namespaced_config_map(coxswain_namespace, {"metadata": {"name": "a"}})
    match = {"verb": "update", "namespace": coxswain_namespace, "count": 1}
    with coxswain_server.fault(match, {"type": "conflict"}) as rule:
        with pytest.raises(client.ApiException, match="Conflict"):
            core.replace_namespaced_config_map("a", coxswain_namespace, created)
        core.replace_namespaced_config_map("a", coxswain_namespace, created)
        assert rule.hits() == 1


def test_rules_end_with_the_block(coxswain_server: Server, coxswain_client: client.ApiClient) -> None:
    core = client.CoreV1Api(coxswain_client)
    with coxswain_server.fault({"verb": "get", "resource": "nodes"}, {"type": "internalError"}):
        with pytest.raises(client.ApiException, match="InternalError"):
            core.read_node("a")
    with pytest.raises(client.ApiException, match="NotFound"):
        core.read_node("a")


def test_rules_are_listed_and_removed(coxswain_server: Server) -> None:
    match, fault = {"verb": "get", "name": "a*"}, {"type": "staleRead", "changes": 2}
    with coxswain_server.fault(match, fault) as rule:
        assert coxswain_server.faults() == [{"id": rule.id, "match": match, "fault": fault, "hits": 0}]
        rule.remove()
        assert coxswain_server.faults() == []


def test_invalid_rule_is_an_error(coxswain_server: Server) -> None:
    with pytest.raises(CoxswainError, match="type"), coxswain_server.fault({}, {"type": "none"}):
        pass


def test_a_fault_that_never_happened_is_an_error(coxswain_server: Server) -> None:
    match = {"verb": "update", "name": "nothing"}
    with coxswain_server.fault({**match, "optional": True}, {"type": "conflict"}):
        pass
    with pytest.raises(CoxswainError, match="the fault conflict never happened"):
        with coxswain_server.fault(match, {"type": "conflict"}):
            pass
    assert coxswain_server.faults() == []


def test_the_error_of_a_block_matters_more(coxswain_server: Server) -> None:
    with pytest.raises(KeyError), coxswain_server.fault({"verb": "update"}, {"type": "conflict"}):
        raise KeyError
    assert coxswain_server.faults() == []

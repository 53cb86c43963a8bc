from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar
from unittest import mock

import kopf
import pytest
import website_operator
from coxswain_pytest import Server
from kubernetes import client

TIMEOUT_SECONDS = 30
T = TypeVar("T")


def website(image: str = "shop:1", **spec: Any) -> dict[str, Any]:
    kind = {"apiVersion": "example.com/v1", "kind": "Website"}
    return {**kind, "metadata": {"name": "shop"}, "spec": {"image": image, "replicas": 2, **spec}}


def of(namespace: str) -> tuple[str, str, str, str]:
    return ("example.com", "v1", namespace, "websites")


def eventually(read: Callable[[], T], condition: Callable[[T], bool] = lambda _: True) -> T:
    """Reads until the condition is met."""
    until = time.monotonic() + TIMEOUT_SECONDS
    last: object = None
    while time.monotonic() < until:
        try:
            value = read()
            if condition(value):
                return value
            last = value
        except client.ApiException as error:
            last = error
        time.sleep(0.05)
    pytest.fail(f"after {TIMEOUT_SECONDS} s: {last}")


@pytest.mark.usefixtures("operator")
def test_a_website_runs_in_a_deployment(
    custom: client.CustomObjectsApi, coxswain_client: client.ApiClient, coxswain_namespace: str
) -> None:
    site = custom.create_namespaced_custom_object(*of(coxswain_namespace), website())
    apps = client.AppsV1Api(coxswain_client)
    deployment = eventually(lambda: apps.read_namespaced_deployment("shop", coxswain_namespace))
    assert deployment.metadata.owner_references[0].uid == site["metadata"]["uid"]
    assert deployment.spec.replicas == 2
    # No kubelet runs the pods, so the test writes the status of the Deployment.
    status = {"status": {"replicas": 2, "readyReplicas": 2}}
    apps.patch_namespaced_deployment_status("shop", coxswain_namespace, status)
    eventually(
        lambda: custom.get_namespaced_custom_object(*of(coxswain_namespace), "shop"),
        lambda current: current.get("status", {}).get("readyReplicas") == 2,
    )


@pytest.mark.usefixtures("operator")
def test_errors_of_the_server_are_tried_again(
    coxswain_server: Server, custom: client.CustomObjectsApi, coxswain_client: client.ApiClient, coxswain_namespace: str
) -> None:
    match = {"verb": "patch", "resource": "deployments", "namespace": coxswain_namespace, "count": 2}
    with coxswain_server.fault(match, {"type": "internalError"}) as rule:
        custom.create_namespaced_custom_object(*of(coxswain_namespace), website())
        apps = client.AppsV1Api(coxswain_client)
        eventually(lambda: apps.read_namespaced_deployment("shop", coxswain_namespace))
        assert rule.hits() == 2


@pytest.mark.usefixtures("operator")
def test_the_webhook_rejects_images_that_can_change(custom: client.CustomObjectsApi, coxswain_namespace: str) -> None:
    with pytest.raises(client.ApiException, match="needs a tag other than latest"):
        custom.create_namespaced_custom_object(*of(coxswain_namespace), website("registry:5000/shop:latest"))


def test_previews_end(coxswain_server: Server, custom: client.CustomObjectsApi, coxswain_namespace: str) -> None:
    site = custom.create_namespaced_custom_object(*of(coxswain_namespace), website(lifetimeHours=24))
    handler = {"body": kopf.Body(site), "name": "shop", "namespace": coxswain_namespace}
    coxswain_server.advance(timedelta(hours=23))
    with pytest.raises(kopf.TemporaryError, match="not over"):
        website_operator.end_preview(**handler, now=coxswain_server.now())
    coxswain_server.advance(timedelta(hours=1))
    website_operator.end_preview(**handler, now=coxswain_server.now())
    with pytest.raises(client.ApiException, match="NotFound"):
        custom.get_namespaced_custom_object(*of(coxswain_namespace), "shop")


def save_all(name: str, namespace: str, status: dict[str, Any]) -> None:
    """The first version of ``save_status``, with the planted bug: a patch of a website ignores its status."""
    client.CustomObjectsApi().patch_namespaced_custom_object(*of(namespace), name, {"status": status})


# A mock accepts what a server ignores: the test passes in spite of the bug.
def test_report_with_mock() -> None:
    with mock.patch.object(client, "CustomObjectsApi") as api, mock.patch.object(website_operator, "save_status", save_all):
        website_operator.report(new=2, name="shop", namespace="default")
    assert api.return_value.patch_namespaced_custom_object.call_args.args[-1] == {"status": {"readyReplicas": 2}}


# The same step with a server finds the bug.
@pytest.mark.parametrize(("save", "found"), [(website_operator.save_status, 2), (save_all, None)], ids=["correct", "bug"])
def test_report(
    save: Callable[..., None], found: int | None, custom: client.CustomObjectsApi, coxswain_namespace: str
) -> None:
    custom.create_namespaced_custom_object(*of(coxswain_namespace), website())
    with mock.patch.object(website_operator, "save_status", save):
        website_operator.report(new=2, name="shop", namespace=coxswain_namespace)
    current = custom.get_namespaced_custom_object(*of(coxswain_namespace), "shop")
    assert current.get("status", {}).get("readyReplicas") == found

"""An operator with kopf that runs each custom resource Website in a Deployment. ``kopf run website_operator.py`` starts it."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from typing import Any

import kopf
from kubernetes import client, dynamic

WEBSITES = ("example.com", "v1", "websites")
MANAGER = "website-operator"


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    directory = os.environ.get("WEBHOOK_CERTIFICATES")
    if directory is not None:
        settings.admission.server = kopf.WebhookServer(
            addr="127.0.0.1" if "WEBHOOK_LOCAL" in os.environ else None,
            port=int(os.environ.get("WEBHOOK_PORT", "9443")),
            certfile=f"{directory}/tls.crt",
            pkeyfile=f"{directory}/tls.key",
        )


@kopf.on.validate(*WEBSITES, operations=["CREATE", "UPDATE"])
def check_image(spec: kopf.Spec, **_: Any) -> None:
    """Rejects images that can change."""
    image: str = spec["image"]
    _, _, tag = image.rpartition("/")[2].partition(":")
    if tag in ("", "latest"):
        raise kopf.AdmissionError(f"spec.image: {image} needs a tag other than latest")


@kopf.on.resume(*WEBSITES, backoff=1)
@kopf.on.create(*WEBSITES, backoff=1)
@kopf.on.update(*WEBSITES, field="spec", backoff=1)
def run(body: kopf.Body, name: str, namespace: str, **_: Any) -> None:
    """Applies the Deployment, which is deleted with the website."""
    deployments = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="apps/v1", kind="Deployment")
    deployment = deployment_of(name, namespace, body)
    deployments.server_side_apply(body=deployment, namespace=namespace, field_manager=MANAGER, force_conflicts=True)


@kopf.on.field("apps", "v1", "deployments", field="status.readyReplicas", labels={"website": kopf.PRESENT}, backoff=1)
def report(new: int | None, name: str, namespace: str, **_: Any) -> None:
    """Reports how many replicas are ready."""
    save_status(name, namespace, {"readyReplicas": new or 0})


@kopf.on.create(*WEBSITES, when=lambda spec, **_: "lifetimeHours" in spec, backoff=1)
def end_preview(body: kopf.Body, name: str, namespace: str, now: datetime | None = None, **_: Any) -> None:
    """Deletes a preview when its lifetime is over."""
    created = datetime.fromisoformat(body["metadata"]["creationTimestamp"].replace("Z", "+00:00"))
    end = created + timedelta(hours=body["spec"]["lifetimeHours"])
    remaining = end - (now or datetime.now(timezone.utc))
    if remaining > timedelta():
        raise kopf.TemporaryError("its lifetime is not over", delay=remaining.total_seconds())
    client.CustomObjectsApi().delete_namespaced_custom_object("example.com", "v1", namespace, "websites", name)


def save_status(name: str, namespace: str, status: dict[str, Any]) -> None:
    """Saves the status, which is a subresource."""
    website = ("example.com", "v1", namespace, "websites", name)
    client.CustomObjectsApi().patch_namespaced_custom_object_status(*website, {"status": status})


def deployment_of(name: str, namespace: str, body: kopf.Body) -> dict[str, Any]:
    labels = {"website": name}
    containers = [{"name": "web", "image": body["spec"]["image"]}]
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": body["spec"]["replicas"],
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }
    kopf.append_owner_reference(deployment, owner=body)
    return deployment

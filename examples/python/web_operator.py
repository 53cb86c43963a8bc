"""An operator that runs a website for each ConfigMap with the label ``app: web``."""

from __future__ import annotations

from typing import Any

import kopf
from kubernetes import client


@kopf.on.create("", "v1", "configmaps", labels={"app": "web"})
def create_deployment(name: str, namespace: str, body: kopf.Body, **_: Any) -> None:
    deployment = deployment_of(name, body["data"])
    kopf.adopt(deployment, owner=body)
    client.AppsV1Api().create_namespaced_deployment(namespace, deployment)


def deployment_of(name: str, data: Any) -> dict[str, Any]:
    labels = labels_of(name, data)
    containers = [{"name": "web", "image": data["image"]}]
    return {
        "metadata": {"name": name, "labels": labels, "annotations": {"title": data["title"]}},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }


def labels_of(name: str, data: Any) -> dict[str, str]:
    return {"site": name}

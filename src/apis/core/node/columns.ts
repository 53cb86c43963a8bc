/**
 * Table columns of Nodes.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../../catalog/common-columns.ts";
import type { Column } from "../../../catalog/strategy-contract.ts";
import { text, wide } from "../../column.ts";
import { items } from "../../fields.ts";

const addressesDescription =
  "List of addresses reachable to the node. Queried from cloud provider, if available. More info: https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).";

/** Columns of `nodes`. */
export const nodeColumns: readonly Column[] = [
  nameColumn,
  text("Status", "The status of the node", status),
  text("Roles", "The roles of the node", ({ metadata }) => rolesOf(metadata.labels ?? {}).join(",") || "<none>"),
  ageColumn,
  text("Version", "Kubelet Version reported by the node.", ({ status }) => status?.nodeInfo?.kubeletVersion ?? ""),
  wide(text("Internal-IP", addressesDescription, (node) => addressOf(node, "InternalIP"))),
  wide(text("External-IP", addressesDescription, (node) => addressOf(node, "ExternalIP"))),
  wide(
    text(
      "OS-Image",
      "OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).",
      ({ status }) => status?.nodeInfo?.osImage || "<unknown>",
    ),
  ),
  wide(
    text(
      "Kernel-Version",
      "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
      kernelVersion,
    ),
  ),
  wide(
    text(
      "Container-Runtime",
      "ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).",
      ({ status }) => status?.nodeInfo?.containerRuntimeVersion || "<unknown>",
    ),
  ),
];

function status({ spec, status }: KubeObject): string {
  const ready = items(status?.conditions).findLast(({ type }) => type === "Ready");
  const state = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state;
}

function kernelVersion({ status }: KubeObject): string {
  const { kernelVersion, architecture } = status?.nodeInfo ?? {};
  return `${kernelVersion || "<unknown>"}${architecture ? ` (${architecture})` : ""}`;
}

const rolePrefix = "node-role.kubernetes.io/";

function rolesOf(labels: Readonly<Record<string, string>>): string[] {
  const named = Object.keys(labels)
    .filter((key) => key.startsWith(rolePrefix))
    .map((key) => key.slice(rolePrefix.length));
  const old = Object.hasOwn(labels, "kubernetes.io/role") ? (labels["kubernetes.io/role"] ?? "") : "";
  return [...new Set([...named, old])].filter((role) => role !== "").sort();
}

function addressOf({ status }: KubeObject, addressType: string): string {
  return items(status?.addresses).find(({ type }) => type === addressType)?.address ?? "<none>";
}

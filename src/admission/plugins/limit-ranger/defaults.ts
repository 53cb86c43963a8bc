/** Sets default requests and limits in the containers of a pod. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Limits } from "./limits.ts";

const annotation = "kubernetes.io/limit-ranger";

/** Sets what containers lack, and lists it in the annotation `kubernetes.io/limit-ranger`. */
export function setDefaultResources({ metadata, spec }: KubeObject, limits: Limits): void {
  if (limits.defaultRequests.length === 0 && limits.defaultLimits.length === 0) return;
  const changes: string[] = [];
  for (const container of spec?.containers ?? []) changes.push(...setInContainer(container, "container", limits));
  for (const container of spec?.initContainers ?? [])
    changes.push(...setInContainer(container, "init container", limits));
  if (changes.length === 0) return;
  metadata.annotations ??= {};
  metadata.annotations[annotation] = `LimitRanger plugin set: ${changes.join("; ")}`;
}

interface Container {
  readonly name: string;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
}

/** @returns a description of what was set */
function setInContainer(container: Container, title: string, limits: Limits): string[] {
  const set = (field: "requests" | "limits", defaults: Limits["defaultLimits"]): string[] => {
    const missing = defaults.filter(([resource]) => !Object.hasOwn(container.resources?.[field] ?? {}, resource));
    if (missing.length === 0) return [];
    container.resources ??= {};
    container.resources[field] = { ...container.resources[field], ...Object.fromEntries(missing) };
    const names = missing.map(([resource]) => resource).join(", ");
    return [`${names} ${field === "requests" ? "request" : "limit"} for ${title} ${container.name}`];
  };
  return [...set("requests", limits.defaultRequests), ...set("limits", limits.defaultLimits)];
}

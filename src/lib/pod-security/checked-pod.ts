/** Prepares a pod for all checks, once. */
import type { CheckedContainer, CheckedPod } from "./contract.ts";
import type { Container, Pod } from "./pod.ts";

const none: readonly Container[] = [];

/** Collects the containers of a pod in the order in which messages name them. */
export function checkedPod({ metadata, spec }: Pod): CheckedPod {
  const { initContainers = none, containers = none, ephemeralContainers = none } = spec;
  const all: CheckedContainer[] = [];
  add(all, "initContainers", initContainers);
  add(all, "containers", containers);
  add(all, "ephemeralContainers", ephemeralContainers);
  return {
    annotations: metadata?.annotations ?? {},
    spec,
    pod: { name: undefined, securityContext: spec.securityContext, path: () => "spec" },
    containers: all,
  };
}

function add(all: CheckedContainer[], list: string, containers: readonly Container[]): void {
  for (const [index, container] of containers.entries()) {
    const { name, securityContext } = container;
    all.push({ name, securityContext, container, path: () => `spec.${list}[${index}]` });
  }
}

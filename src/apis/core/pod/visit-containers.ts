/** Iteration over all containers in the spec of a pod, in upstream's order. */
import { items, type Part } from "../../fields.ts";

const containerFields = ["initContainers", "containers", "ephemeralContainers"] as const;

type ContainerField = (typeof containerFields)[number];

/** @param path of the spec @param visit receives each container and its path */
export function visitContainers(spec: Part, path: string, visit: (container: Part, path: string) => void): void {
  for (const field of containerFields) {
    const list = spec[field];
    if (!list) continue;
    for (const [index, container] of items(list).entries()) visit(container, `${path}.${field}[${index}]`);
  }
}

/** Whether any container matches. */
export function someContainer(spec: Part, matches: (container: Part, field: ContainerField) => boolean): boolean {
  return containerFields.some(
    (field) => spec[field] !== undefined && items(spec[field]).some((container) => matches(container, field)),
  );
}

/** Whether an init container is a sidecar, which keeps running with the other containers. */
export function isSidecar({ restartPolicy }: Part): boolean {
  return restartPolicy === "Always";
}

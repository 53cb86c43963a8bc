/** The containers of a pod's spec, of all three kinds, in the order in which upstream visits them. */
import { items, type Part } from "../../fields.ts";

export const containerFields = ["initContainers", "containers", "ephemeralContainers"] as const;

export type ContainerField = (typeof containerFields)[number];

/** @param path of the spec @param visit gets each container with its path */
export function visitContainers(spec: Part, path: string, visit: (container: Part, path: string) => void): void {
  for (const field of containerFields) {
    const list = spec[field];
    if (!list) continue;
    for (const [index, container] of items(list).entries()) visit(container, `${path}.${field}[${index}]`);
  }
}

export function someContainer(spec: Part, matches: (container: Part, field: ContainerField) => boolean): boolean {
  return containerFields.some(
    (field) => spec[field] !== undefined && items(spec[field]).some((container) => matches(container, field)),
  );
}

/** An init container that goes on running beside the others. */
export function isSidecar({ restartPolicy }: Part): boolean {
  return restartPolicy === "Always";
}

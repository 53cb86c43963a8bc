/** Which updates of pods are evaluated again. */
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";

interface Container {
  readonly name: string;
  readonly image?: string;
}

/**
 * Returns whether a pod is new, or an update adds containers or changes images. Other fields that
 * checks read cannot be updated.
 */
export function isSignificantUpdate({ operation, object, oldObject }: AdmissionAttributes): boolean {
  if (operation !== "UPDATE") return true;
  const [next, old] = [object?.spec, oldObject?.spec];
  return (
    differ(next?.containers, old?.containers) ||
    differ(next?.initContainers, old?.initContainers) ||
    addsOrChanges(next?.ephemeralContainers, old?.ephemeralContainers)
  );
}

function differ(next: readonly Container[] = [], old: readonly Container[] = []): boolean {
  return next.length !== old.length || next.some(({ image }, at) => image !== old[at]?.image);
}

function addsOrChanges(next: readonly Container[] = [], old: readonly Container[] = []): boolean {
  const images = new Map(old.map(({ name, image }) => [name, image]));
  return next.some(({ name, image }) => !images.has(name) || images.get(name) !== image);
}

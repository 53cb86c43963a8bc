/**
 * Parts of a pod's spec that an emulated release may not have, and that are not single fields.
 * Source: `dropDisabledFields` in `k8s.io/kubernetes@v1.36.0/pkg/api/pod/util.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Strategy } from "../../../catalog/strategy-contract.ts";
import { type PodTemplateKind, podOf } from "../../../lib/pod-security/pod-templates.ts";
import { items, type Part } from "../../fields.ts";
import { hasRestartRules } from "./existing-spec.ts";

type DropDisabled = Strategy["dropDisabled"];

/**
 * Drops image volumes and policies of restarts while their gates are off, unless the existing object has some.
 *
 * @param before what the kind drops otherwise
 */
export function droppingFromPods(kind: PodTemplateKind, before: DropDisabled): DropDisabled {
  const specOf = (object: KubeObject | undefined): Part => (object && podOf(object, kind)?.spec) ?? {};
  return (next, old, context) => {
    before(next, old, context);
    const { enabled } = context.gates;
    if (enabled("ImageVolume") && enabled("ContainerRestartRules")) return;
    const [spec, oldSpec] = [specOf(next), specOf(old)];
    if (!enabled("ImageVolume") && !items(oldSpec.volumes).some(isImage)) dropImageVolumes(spec);
    if (!enabled("ContainerRestartRules") && !hasRestartRules(oldSpec)) dropRestartPolicies(spec);
  };
}

const isImage = ({ image }: Part): boolean => Boolean(image);

/** Drops their mounts, too. */
function dropImageVolumes(spec: Part): void {
  const dropped = new Set(
    items(spec.volumes)
      .filter(isImage)
      .map(({ name }) => name),
  );
  if (dropped.size === 0) return;
  keepOnly(spec, "volumes", (volume) => !isImage(volume));
  for (const container of ["containers", "initContainers", "ephemeralContainers"].flatMap((list) => items(spec[list])))
    keepOnly(container, "volumeMounts", ({ name }) => !dropped.has(name));
}

/** Filters a list; an empty one is removed. */
function keepOnly(holder: Part, field: string, isKept: (item: Part) => boolean): void {
  const kept = items(holder[field]).filter(isKept);
  if (kept.length === 0) delete holder[field];
  else holder[field] = kept;
}

/** Init containers may always restart. The gate of their field drops the rules. */
function dropRestartPolicies(spec: Part): void {
  for (const container of items(spec.initContainers))
    if (container.restartPolicy !== "Always") delete container.restartPolicy;
  for (const container of ["containers", "ephemeralContainers"].flatMap((list) => items(spec[list])))
    delete container.restartPolicy;
}

/**
 * Volumes that mount images, which an emulated release may not have.
 * Source: `dropImageVolumes` in `k8s.io/kubernetes@v1.36.0/pkg/api/pod/util.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Strategy } from "../../../catalog/strategy-contract.ts";
import { type PodTemplateKind, podOf } from "../../../lib/pod-security/pod-templates.ts";
import { items, type Part } from "../../fields.ts";

type DropDisabled = Strategy["dropDisabled"];

/**
 * Drops image volumes and their mounts while the gate ImageVolume is off, unless the existing object has such volumes.
 *
 * @param before what the kind drops otherwise
 */
export function droppingImageVolumes(kind: PodTemplateKind, before: DropDisabled): DropDisabled {
  const specOf = (object: KubeObject | undefined): Part | undefined => object && podOf(object, kind)?.spec;
  return (next, old, context) => {
    before(next, old, context);
    if (context.gates.enabled("ImageVolume")) return;
    const spec = specOf(next);
    if (spec !== undefined && !items(specOf(old)?.volumes).some(isImage)) dropFrom(spec);
  };
}

const isImage = ({ image }: Part): boolean => Boolean(image);

function dropFrom(spec: Part): void {
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

/**
 * Converts managed fields of an object to those of its Scale, which has only the replicas, and
 * back. Source: k8s.io/apimachinery@v0.36.0/pkg/util/managedfields/scalehandler.go.
 */
import type { ManagedFieldsEntry } from "../../apimachinery/object.ts";
import { decodeManaged, encodeManaged } from "../../lib/managed-fields/entries.ts";
import { fieldElement } from "../../lib/structured-merge/fields-v1.ts";
import { difference, has, isEmpty, pathSetOf } from "../../lib/structured-merge/set.ts";
import type { ManagedSet } from "../../lib/structured-merge/updater.ts";

/** The apiVersion of a Scale. */
export const scaleVersion = "autoscaling/v1";

/** In a Scale, and in all built-in kinds that have one. */
const replicasPath = ["spec", "replicas"].map(fieldElement);
const replicas = pathSetOf([replicasPath]);

/**
 * The path of the replicas in an object, by the apiVersion of an entry: null where the version has
 * no scale, undefined for an unknown version.
 */
export type ReplicasPaths = (apiVersion: string) => readonly string[] | null | undefined;

/**
 * The entries of an object's Scale.
 * @throws ManagedFieldsError
 */
export function scaleEntries(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const { sets, times, read } = decodeManaged(entries);
  const shown = [...sets].filter(([, owned]) => owns(owned, paths));
  return encodeManaged({
    sets: new Map(shown.map(([id, { applied }]) => [id, { set: replicas, version: scaleVersion, applied }])),
    times,
    read,
  });
}

function owns({ set, version }: ManagedSet, paths: ReplicasPaths): boolean {
  const path = paths(version);
  return path !== undefined && path !== null && has(set, path.map(fieldElement));
}

/**
 * The entries of the object after a write of its Scale. An update entry of the Scale has another
 * version than the object's, so the manager gets a second entry with only the replicas and without
 * a time. Upstream does the same, and uses the last of such entries when it reads them.
 * @param parent entries of the object before
 * @param scale entries of the new Scale
 * @param version of the object, used for new owners of the replicas
 * @throws ManagedFieldsError
 */
export function parentEntries(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  version: string,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const pathSet = ({ version: at }: Pick<ManagedSet, "version">) => pathSetOf([(paths(at) ?? []).map(fieldElement)]);
  const before = decodeManaged(parent);
  const after = decodeManaged(scale);
  const owners = new Map([...after.sets].filter(([, { set }]) => has(set, replicasPath)));
  const sets = new Map<string, ManagedSet>();
  for (const [id, owned] of before.sets) {
    if (paths(owned.version) === undefined) continue;
    const keeps = !owns(owned, paths) || owners.delete(id);
    const left = keeps ? owned : { ...owned, set: difference(owned.set, pathSet(owned)) };
    if (!isEmpty(left.set)) sets.set(id, left);
  }
  for (const [id, { applied }] of owners) sets.set(id, { set: pathSet({ version }), version, applied });
  return encodeManaged({ ...before, sets });
}

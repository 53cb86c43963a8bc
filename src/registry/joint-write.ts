/** Changes of other objects in the commit of a write, such as the usage of a quota. */

import type { KubeObject } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resource } from "../catalog/contract.ts";
import { decodeEncoded } from "../lib/schema/decode.ts";
import type { Encoded } from "../lib/schema/encode.ts";
import type {
  Check,
  Committed,
  Conflict,
  DerivedValue,
  DerivedWrite,
  Seal,
  Storage,
  Stored,
  Write,
} from "../storage/contract.ts";
import { entryFromStored, sealedState } from "../watch-cache/entry.ts";
import { readable } from "../watch-cache/unreadable.ts";
import type { RegistryContext } from "./contract.ts";
import { currentEntry } from "./current-entry.ts";
import {
  type JointChange,
  JointConflict,
  type JointCreation,
  type JointWrite,
  type UpdateStatus,
} from "./joint-change.ts";
import { trackManagedFields } from "./managed-fields/track.ts";
import { sharedForm } from "./shared-encoding.ts";

type Encode = (resource: Resource, object: KubeObject) => { readonly encoded: Encoded; readonly seal: Seal };

/** The field manager of the server's own writes, as upstream. */
const manager = "kube-apiserver";

interface JointCommit {
  readonly registry: RegistryContext;
  readonly encode: Encode;
  readonly commit: Storage["commit"];
}

/**
 * Commits a write with changes of other objects.
 *
 * @returns a conflict only of the write itself
 * @throws JointConflict when another change was not possible, once the watch cache shows why
 */
export async function commitJointly(
  { registry, encode, commit }: JointCommit,
  checks: readonly Check[],
  write: Write,
  joint: readonly JointChange[],
): Promise<Committed | Conflict> {
  const creations = joint.filter((one) => "object" in one);
  const derived = joint.flatMap((one): DerivedWrite[] => {
    if ("value" in one) return [one.value];
    return "object" in one ? [] : [derivedWrite(registry, one, encode)];
  });
  const created = creations.map(({ target, key, object }): Write => {
    const { encoded, seal } = encode(target.resource, object);
    const { sharedEncoding } = registry;
    const shared = sharedEncoding && sharedForm(sharedEncoding, target.resource, object, encoded.json);
    return { key, value: encoded.json, seal, ...shared };
  });
  const absent = created.map(({ key }) => ({ key, revision: 0 }));
  // Engines merge only derived writes at the end of commits.
  const committed = await commit([...checks, ...absent], [write, ...created, ...derived]);
  if (committed.ok)
    for (const { key, value } of created)
      registry.changed?.({ key, revision: committed.revision, before: undefined, after: value ?? undefined });
  if (committed.ok || committed.key === write.key) return committed;
  await showConflict(creations, committed.key);
  throw new JointConflict(committed.key);
}

/** Waits until the watch cache has the object that another writer created. */
async function showConflict(creations: readonly JointCreation[], key: string): Promise<void> {
  const target = creations.find((one) => one.key === key)?.target;
  if (target !== undefined) await currentEntry(storeOf(target.resource), key);
}

/** Converts a joint write to one of the storage engine. */
function derivedWrite(registry: RegistryContext, joint: JointWrite, encode: Encode): DerivedWrite {
  return {
    key: joint.key,
    derive(newest) {
      if (newest === undefined) return undefined;
      const { source } = storeOf(joint.target.resource);
      const sealed = readable(newest, (stored) => sealedState(stored, source), source);
      const derived = joint.derive(sealed, statusUpdate(registry, joint, sealed, encode));
      return derived && withShared(registry, joint, derived);
    },
  };
}

/** Adds the form for shared stores to a value, which may be made of bytes. */
function withShared({ sharedEncoding }: RegistryContext, { target }: JointWrite, derived: DerivedValue): DerivedValue {
  if (sharedEncoding === undefined) return derived;
  const object = decodeEncoded(derived.value, storeOf(target.resource).form.schema) as KubeObject;
  return { ...derived, ...sharedForm(sharedEncoding, target.resource, object, derived.value) };
}

/** Neither admission nor validation runs for this update: it happens while a commit is decided. */
function statusUpdate(registry: RegistryContext, { target }: JointWrite, newest: Stored, encode: Encode): UpdateStatus {
  return (change) => {
    const store = storeOf(target.resource);
    const entry = entryFromStored(newest, store.source);
    const [object, old] = [store.decode(entry), store.decode(entry)];
    change(object);
    const { namespace, name } = entry.index;
    const writer = { user: loopbackUser, dryRun: false, fieldManager: manager, userAgent: manager, warnings: [] };
    trackManagedFields(registry, { target, namespace, name, subresource: "status", ...writer }, object, old);
    const { encoded, seal } = encode(target.resource, object);
    return { value: encoded.json, seal, object };
  };
}

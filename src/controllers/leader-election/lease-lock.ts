/**
 * A Lease as the lock of an election. Source:
 * `k8s.io/client-go@v0.36.0/tools/leaderelection/resourcelock/leaselock.go`.
 */

import { notFound } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext, Written } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import type { Stored } from "../../storage/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { entryFromStored } from "../../watch-cache/entry.ts";
import { isReadFailure } from "../../watch-cache/unreadable.ts";
import { create, update } from "../audited-writes.ts";
import type { ControllerWrites } from "../controller-write.ts";
import type { ElectionRecord, LeaseLock, StoredLease } from "./contract.ts";

interface LeaseLockOptions {
  readonly registry: RegistryContext;
  readonly namespace: string;
  readonly name: string;
  readonly writes: ControllerWrites;
}

const resource = { group: "coordination.k8s.io", resource: "leases" };

/** @returns undefined when Leases are not served */
export function leaseLock(options: LeaseLockOptions): LeaseLock | undefined {
  const { registry, namespace, name } = options;
  const target = registry.catalog.findServed(resource.group, "v1", resource.resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return undefined;
  const key = store.keyOf(namespace, name);
  return {
    description: `${namespace}/${name}`,
    key,
    async read() {
      const entry = await currentEntry(store, key);
      return entry && storedLease(store, entry);
    },
    create: (record) => createLease(options, target, record),
    update: (record, revision) => updateLease(options, target, { record, revision }),
    holderOf: (stored) => holderOf(store, stored),
  };
}

async function createLease(options: LeaseLockOptions, target: Resolved, record: ElectionRecord): Promise<StoredLease> {
  const { namespace, name } = options;
  const written = await create(options.registry, {
    ...options.writes.of(target, namespace, ""),
    decode: () => ({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace },
      spec: specOf(record),
    }),
  });
  return writtenLease(target, written);
}

async function updateLease(
  options: LeaseLockOptions,
  target: Resolved,
  { record, revision }: { readonly record: ElectionRecord; readonly revision: number },
): Promise<StoredLease> {
  const written = await update(options.registry, {
    ...options.writes.of(target, options.namespace, options.name),
    ifMatch: String(revision),
    createsMissing: false,
    next(current) {
      if (current === undefined) throw notFound(resource, options.name);
      const lease = current();
      lease.spec = specOf(record);
      return lease;
    },
  });
  return writtenLease(target, written);
}

function writtenLease({ resource: { store } }: Resolved, written: Written): StoredLease {
  if (!("entry" in written)) throw new Error("a Lease was written, but not stored");
  return storedLease(store as ResourceStore, written.entry);
}

function storedLease(store: ResourceStore, entry: Entry): StoredLease {
  const object = store.decode(entry);
  return { object, record: recordOf(object), revision: entry.revision };
}

function recordOf({ spec = {} }: KubeObject): ElectionRecord {
  return {
    holderIdentity: spec.holderIdentity ?? "",
    leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime ?? "",
    renewTime: spec.renewTime ?? "",
    leaseTransitions: spec.leaseTransitions ?? 0,
    strategy: spec.strategy ?? "",
    preferredHolder: spec.preferredHolder ?? "",
  };
}

/** The fields that are always written, and the others if they are set. */
function specOf({ strategy, preferredHolder, acquireTime, renewTime, ...rest }: ElectionRecord): KubeObject["spec"] {
  return {
    ...rest,
    ...(acquireTime !== "" && { acquireTime }),
    ...(renewTime !== "" && { renewTime }),
    ...(strategy !== "" && { strategy }),
    ...(preferredHolder !== "" && { preferredHolder }),
  };
}

function holderOf(store: ResourceStore, stored: Stored): string | undefined {
  try {
    return recordOf(store.decode(entryFromStored(stored, store.source))).holderIdentity;
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    return undefined;
  }
}

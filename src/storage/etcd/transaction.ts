/** Commits as transactions of etcd. */
import type { Integer } from "../../lib/json/values.ts";
import {
  type Check,
  type Conflict,
  StorageUnavailable,
  type Stored,
  type StoreOperation,
  type Write,
} from "../contract.ts";
import { compareTarget, type KeyValue, type Operation, type TxnRequest, type TxnResponse } from "./api/messages.ts";
import type { Keys } from "./keys.ts";

/** A commit without derived writes. */
export interface PlainCommit {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/** @param leases the leases of keys that expire */
export function txnOf({ checks, writes }: PlainCommit, keys: Keys, leases: ReadonlyMap<string, Integer>): TxnRequest {
  return {
    compare: checks.map(({ key, revision }) => ({
      target: compareTarget.modRevision,
      key: keys.toEtcd(key),
      mod_revision: revision,
    })),
    success: writes.map((write) => requestOf(write, keys, leases.get(write.key))),
    failure: checks.map(({ key }) => ({ request_range: { key: keys.toEtcd(key) } })),
  };
}

function requestOf({ key, value, shared }: Write, keys: Keys, lease: Integer | undefined): Operation {
  if (value === null) return { request_delete_range: { key: keys.toEtcd(key) } };
  return { request_put: { key: keys.toEtcd(key), value: shared ?? value, ...(lease !== undefined && { lease }) } };
}

/** What a commit does with its first key. */
export function operationOf({ checks, writes }: PlainCommit): {
  readonly operation: StoreOperation;
  readonly key: string | undefined;
} {
  const [write] = writes;
  if (write === undefined) return { operation: "get", key: checks[0]?.key };
  const isNew = checks.some(({ key, revision }) => key === write.key && revision === 0);
  return { operation: write.value === null ? "delete" : isNew ? "create" : "update", key: write.key };
}

/** The first check that the state in the answer contradicts. @throws StorageUnavailable when all checks hold */
export function conflictOf(
  { checks }: PlainCommit,
  { responses = [] }: TxnResponse,
  storedOf: (kv: KeyValue) => Stored,
): Conflict {
  for (const [index, { key, revision }] of checks.entries()) {
    const kv = responses[index]?.response_range?.kvs?.[0];
    if ((kv?.mod_revision ?? 0) !== revision) return { ok: false, key, current: kv && storedOf(kv) };
  }
  throw new StorageUnavailable("etcd rejected a transaction whose preconditions hold");
}

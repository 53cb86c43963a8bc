/** Checks answers of etcd, which may be another program, or a proxy that answers nonsense. */
import { StorageUnavailable } from "../contract.ts";
import type { KeyValue, RangeResponse } from "../etcd/api/messages.ts";

/**
 * Checks that an answer is a page of the range: its keys are in order and in the range.
 * @throws StorageUnavailable
 */
export function checkPage({ header, kvs = [], more }: RangeResponse, first: Buffer, end: Buffer): void {
  if (!isRevision(header?.revision)) throw nonsense("no revision");
  if (more && kvs.length === 0) throw nonsense("a page without keys that is not the last");
  let previous: Buffer | undefined;
  for (const kv of kvs) {
    checkKeyValue(kv, header.revision);
    const inRange = previous === undefined ? kv.key.compare(first) >= 0 : kv.key.compare(previous) > 0;
    if (!inRange || kv.key.compare(end) >= 0) throw nonsense("keys that were not requested, or are not in order");
    previous = kv.key;
  }
}

/** @throws StorageUnavailable */
function checkKeyValue({ mod_revision: revision }: KeyValue, newest: number): void {
  if (!isRevision(revision) || revision > newest) throw nonsense("a key of a future revision");
}

function isRevision(revision: unknown): boolean {
  return Number.isSafeInteger(revision) && (revision as number) > 0;
}

function nonsense(what: string): StorageUnavailable {
  return new StorageUnavailable(`etcd answered ${what}`);
}

/**
 * Checks the answers of etcd before they are used: revisions that a number holds, and the keys that were requested, in
 * order. A proxy or a damaged member can answer anything.
 */
import { SharedStoreError } from "../../contract.ts";
import { isIn } from "../keys.ts";
import type {
  Header,
  KeyValue,
  RangeRequest,
  RangeResponse,
  StatusResponse,
  TxnRequest,
  TxnResponse,
  WatchResponse,
} from "./messages.ts";

/** @throws StorageUnavailable */
export function checkHeader({ header }: { readonly header: Header | undefined }): void {
  if (header === undefined || !isRevision(header.revision)) throw unusable("has no revision");
}

/** @throws StorageUnavailable */
export function checkRange(response: RangeResponse, { key: first, range_end: end, limit = 0 }: RangeRequest): void {
  checkHeader(response);
  const { header, kvs = [], more, count } = response;
  if (!isCount(count)) throw unusable("has no count");
  if (limit > 0 && kvs.length > limit) throw unusable("has more keys than were requested");
  if (more && kvs.length === 0) throw unusable("has none of the keys that it announces");
  let last: Buffer | undefined;
  for (const kv of kvs) {
    checkKeyValue(kv, header.revision);
    const isRequested = end === undefined ? kv.key.equals(first) : isIn({ key: first, rangeEnd: end }, kv.key);
    if (!isRequested || (last !== undefined && kv.key.compare(last) <= 0))
      throw unusable("has other keys than were requested");
    last = kv.key;
  }
}

/** @throws StorageUnavailable */
export function checkTxn(response: TxnResponse, { failure }: TxnRequest): void {
  checkHeader(response);
  const { header, succeeded, responses = [] } = response;
  if (succeeded) return;
  for (const [index, { request_range: read }] of failure.entries()) {
    const answer = responses[index]?.response_range;
    if (answer === undefined || read === undefined) throw unusable("lacks the state of a key");
    checkRange({ ...answer, header }, read);
  }
}

/** @throws StorageUnavailable */
export function checkStatus({ dbSize }: StatusResponse): void {
  if (!isCount(dbSize)) throw unusable("has no size");
}

/** @throws StorageUnavailable */
export function checkWatch({ header, compact_revision: compacted, events = [] }: WatchResponse): void {
  if (header === undefined || !isCount(header.revision) || !isCount(compacted)) throw unusable("has no revision");
  let last = 0;
  for (const { type, kv, prev_kv: before } of events) {
    if (kv === undefined || (type !== 0 && type !== 1)) throw unusable("has an event without a change");
    checkKeyValue(kv, header.revision);
    if (before !== undefined && (!before.key.equals(kv.key) || before.mod_revision >= kv.mod_revision))
      throw unusable("has an event with another state before it");
    if (before !== undefined) checkKeyValue(before, header.revision);
    if (kv.mod_revision < last) throw unusable("has events in another order than their revisions");
    last = kv.mod_revision;
  }
}

function checkKeyValue({ key, create_revision: created, mod_revision: revision }: KeyValue, newest: number): void {
  if (key.length === 0) throw unusable("has a change without a key");
  if (!isRevision(revision) || revision > newest || !isCount(created) || created > revision)
    throw unusable("has a key with a revision that the store does not have");
}

function isRevision(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function unusable(what: string): SharedStoreError {
  return new SharedStoreError(`an answer of etcd cannot be used: it ${what}`, { isTimeout: false });
}

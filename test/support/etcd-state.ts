/** What a member of etcd knows: keys with all their versions, and the watches of their changes. */
import type {
  KeyValue,
  Operation,
  RangeRequest,
  TxnRequest,
  WatchCreate,
  WatchEvent,
} from "../../src/storage/etcd/api/messages.ts";
import { isIn } from "../../src/storage/etcd/keys.ts";

export interface EtcdState {
  header(): object;
  range(request: RangeRequest): object;
  txn(request: TxnRequest): object;
  /** Calls back with the changes from the revision on. @returns ends the watch */
  watch(range: Pick<WatchCreate, "key" | "range_end">, from: number, call: (events: WatchEvent[]) => void): () => void;
}

interface Watcher {
  readonly range: Pick<WatchCreate, "key" | "range_end">;
  readonly call: (events: WatchEvent[]) => void;
}

export function openEtcdState(): EtcdState {
  let revision = 1;
  /** By key in hexadecimal digits, oldest first; undefined: deleted. */
  const versions = new Map<string, { readonly at: number; readonly kv: KeyValue | undefined }[]>();
  const history: WatchEvent[] = [];
  const watchers = new Set<Watcher>();
  const header = (): object => ({ cluster_id: 5, member_id: 6, revision, raft_term: 2 });
  const stateOf = (hex: string, at = revision): KeyValue | undefined =>
    versions.get(hex)?.findLast((one) => one.at <= at)?.kv;

  const range = ({ key, range_end: end, limit = 0, revision: at, ...only }: RangeRequest): object => {
    const found = [...versions.keys()]
      .filter((hex) => isRequested(Buffer.from(hex, "hex"), key, end))
      .sort()
      .flatMap((hex) => stateOf(hex, at || revision) ?? []);
    const kvs = limit > 0 ? found.slice(0, limit) : found;
    const shown = only.keys_only === true ? kvs.map(({ value: _value, ...kv }) => kv) : kvs;
    const isCount = only.count_only === true;
    return { header: header(), kvs: isCount ? [] : shown, more: kvs.length < found.length, count: found.length };
  };

  const change = (key: Buffer, value: Buffer | undefined, lease: KeyValue["lease"]): WatchEvent | undefined => {
    const hex = key.toString("hex");
    const before = stateOf(hex);
    if (before === undefined && value === undefined) return undefined;
    const created = { create_revision: before?.create_revision ?? revision, mod_revision: revision };
    const kv = value && { key, value, lease, version: (before?.version ?? 0) + 1, ...created };
    versions.set(hex, [...(versions.get(hex) ?? []), { at: revision, kv }]);
    const deletion = { key, create_revision: 0, mod_revision: revision, version: 0, value: Buffer.of(), lease: 0 };
    return { type: kv === undefined ? 1 : 0, kv: kv ?? deletion, prev_kv: before };
  };

  const perform = (operation: Operation, events: WatchEvent[]): object => {
    const { request_range: read, request_put: put, request_delete_range: deletion } = operation;
    if (read !== undefined) return { response_range: range(read) };
    const event = put ? change(put.key, put.value, put.lease ?? 0) : change(deletion?.key as Buffer, undefined, 0);
    if (event !== undefined) events.push(event);
    return put ? { response_put: {} } : { response_delete_range: { deleted: event === undefined ? 0 : 1 } };
  };

  const txn = ({ compare = [], success = [], failure = [] }: Partial<TxnRequest>): object => {
    const succeeded = compare.every(({ key, version, mod_revision: expected }) => {
      const kv = stateOf(key.toString("hex"));
      return expected === undefined ? (kv?.version ?? 0) === version : (kv?.mod_revision ?? 0) === expected;
    });
    const events: WatchEvent[] = [];
    const chosen = (succeeded ? success : failure) ?? [];
    const writes = chosen.some(({ request_range: read }) => read === undefined);
    if (writes) revision++;
    const responses = chosen.map((operation) => perform(operation, events));
    history.push(...events);
    for (const { range, call } of watchers) {
      const own = events.filter(({ kv }) => isRequested(kv.key, range.key, range.range_end));
      if (own.length > 0) call(own);
    }
    return { header: header(), succeeded, responses };
  };

  return {
    header,
    range,
    txn,
    watch(range, from, call) {
      const watcher = { range, call };
      watchers.add(watcher);
      const old = history.filter(
        ({ kv }) => kv.mod_revision >= from && isRequested(kv.key, range.key, range.range_end),
      );
      if (from > 0 && old.length > 0) call(old);
      return () => void watchers.delete(watcher);
    },
  };
}

/** Whether the key is the requested one, or in the requested range. */
function isRequested(key: Buffer, first: Buffer, rangeEnd: Buffer | undefined): boolean {
  if (rangeEnd === undefined || rangeEnd.length === 0) return key.equals(first);
  return isIn({ key: first, rangeEnd }, key);
}

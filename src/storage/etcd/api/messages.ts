/**
 * The part of etcd's v3 API that the engine uses. Names and numbers are those of
 * `go.etcd.io/etcd/api/v3@v3.6.8/etcdserverpb/rpc.proto` and `mvccpb/kv.proto`. Repeated fields are
 * undefined when they are empty.
 */

import type { Field, Message } from "../../../lib/grpc/codec.ts";
import type { Integer } from "../../../lib/json/values.ts";

const int64 = (id: number): Field => ({ id, type: "int64" });
const identifier = (id: number): Field => ({ id, type: "id" });
const bool = (id: number): Field => ({ id, type: "bool" });
const bytes = (id: number): Field => ({ id, type: "bytes" });
const text = (id: number): Field => ({ id, type: "string" });
const one = (id: number, type: Message): Field => ({ id, type });
const choice = (id: number, type: Field["type"]): Field => ({ id, type, oneof: true });
const many = (id: number, type: Field["type"]): Field => ({ id, type, repeated: true });
const message = (name: string, fields: Message["fields"]): Message => ({ name, fields });

/** The state of the cluster that an answer shows. */
export interface Header {
  readonly cluster_id: Integer;
  readonly member_id: Integer;
  readonly revision: number;
  readonly raft_term: number;
}

const header = message("ResponseHeader", {
  cluster_id: identifier(1),
  member_id: identifier(2),
  revision: int64(3),
  raft_term: int64(4),
});

/** A key with its value. */
export interface KeyValue {
  readonly key: Buffer;
  readonly create_revision: number;
  readonly mod_revision: number;
  /** Writes since the key was created. */
  readonly version: number;
  readonly value: Buffer;
  readonly lease: Integer;
}

const keyValue = message("KeyValue", {
  key: bytes(1),
  create_revision: int64(2),
  mod_revision: int64(3),
  version: int64(4),
  value: bytes(5),
  lease: identifier(6),
});

export interface RangeRequest {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly keys_only?: boolean;
  readonly count_only?: boolean;
}

export const rangeRequest = message("RangeRequest", {
  key: bytes(1),
  range_end: bytes(2),
  limit: int64(3),
  revision: int64(4),
  serializable: bool(7),
  keys_only: bool(8),
  count_only: bool(9),
});

export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[] | undefined;
  readonly more: boolean;
  readonly count: number;
}

export const rangeResponse = message("RangeResponse", {
  header: one(1, header),
  kvs: many(2, keyValue),
  more: bool(3),
  count: int64(4),
});

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly lease?: Integer;
}

const putRequest = message("PutRequest", { key: bytes(1), value: bytes(2), lease: identifier(3) });
const putResponse = message("PutResponse", { header: one(1, header) });
const deleteRequest = message("DeleteRangeRequest", { key: bytes(1), range_end: bytes(2) });
const deleteResponse = message("DeleteRangeResponse", { header: one(1, header), deleted: int64(2) });

/** One operation of a transaction. */
export interface Operation {
  readonly request_range?: RangeRequest;
  readonly request_put?: PutRequest;
  readonly request_delete_range?: { readonly key: Buffer };
}

const operation = message("RequestOp", {
  request_range: choice(1, rangeRequest),
  request_put: choice(2, putRequest),
  request_delete_range: choice(3, deleteRequest),
});

const operationResult = message("ResponseOp", {
  response_range: choice(1, rangeResponse),
  response_put: choice(2, putResponse),
  response_delete_range: choice(3, deleteResponse),
});

/** A precondition of a transaction: the number must be equal. */
export interface Compare {
  /** One of {@link compareTarget}. */
  readonly target: number;
  readonly key: Buffer;
  readonly version?: number;
  readonly mod_revision?: number;
}

/** What a precondition compares. */
export const compareTarget = { version: 0, modRevision: 2 } as const;

const compare = message("Compare", {
  result: int64(1),
  target: int64(2),
  key: bytes(3),
  version: choice(4, "int64"),
  mod_revision: choice(6, "int64"),
});

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
}

export const txnRequest = message("TxnRequest", {
  compare: many(1, compare),
  success: many(2, operation),
  failure: many(3, operation),
});

export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeResponse }[] | undefined;
}

export const txnResponse = message("TxnResponse", {
  header: one(1, header),
  succeeded: bool(2),
  responses: many(3, operationResult),
});

export const compactRequest = message("CompactionRequest", { revision: int64(1), physical: bool(2) });
export const compactResponse = message("CompactionResponse", { header: one(1, header) });

export interface WatchCreate {
  readonly key: Buffer;
  readonly range_end: Buffer;
  readonly start_revision: number;
  readonly progress_notify: boolean;
  readonly prev_kv: boolean;
  readonly watch_id: number;
}

export interface WatchRequest {
  readonly create_request?: WatchCreate;
  readonly cancel_request?: { readonly watch_id: number };
  readonly progress_request?: object;
}

export const watchRequest = message("WatchRequest", {
  create_request: choice(
    1,
    message("WatchCreateRequest", {
      key: bytes(1),
      range_end: bytes(2),
      start_revision: int64(3),
      progress_notify: bool(4),
      prev_kv: bool(6),
      watch_id: int64(7),
    }),
  ),
  cancel_request: choice(2, message("WatchCancelRequest", { watch_id: int64(1) })),
  progress_request: choice(3, message("WatchProgressRequest", {})),
});

/** A change of a key. */
export interface WatchEvent {
  /** 0: put, 1: deletion. */
  readonly type: number;
  readonly kv: KeyValue;
  readonly prev_kv: KeyValue | undefined;
}

export interface WatchResponse {
  readonly header: Header;
  /** -1 in an answer to a progress request. */
  readonly watch_id: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: number;
  readonly cancel_reason: string;
  readonly events: readonly WatchEvent[] | undefined;
}

export const watchResponse = message("WatchResponse", {
  header: one(1, header),
  watch_id: int64(2),
  created: bool(3),
  canceled: bool(4),
  compact_revision: int64(5),
  cancel_reason: text(6),
  events: many(11, message("Event", { type: int64(1), kv: one(2, keyValue), prev_kv: one(3, keyValue) })),
});

export const leaseGrantRequest = message("LeaseGrantRequest", { TTL: int64(1), ID: identifier(2) });

export interface LeaseGrantResponse {
  readonly header: Header;
  readonly ID: Integer;
  readonly TTL: number;
  readonly error: string;
}

export const leaseGrantResponse = message("LeaseGrantResponse", {
  header: one(1, header),
  ID: identifier(2),
  TTL: int64(3),
  error: text(4),
});

export const leaseTimeRequest = message("LeaseTimeToLiveRequest", { ID: identifier(1), keys: bool(2) });

export interface LeaseTimeResponse {
  readonly header: Header;
  readonly ID: Integer;
  /** Remaining seconds; -1 when the lease has expired. */
  readonly TTL: number;
  readonly grantedTTL: number;
}

export const leaseTimeResponse = message("LeaseTimeToLiveResponse", {
  header: one(1, header),
  ID: identifier(2),
  TTL: int64(3),
  grantedTTL: int64(4),
});

export const statusRequest = message("StatusRequest", {});

export interface StatusResponse {
  readonly header: Header;
  readonly version: string;
  readonly dbSize: number;
}

export const statusResponse = message("StatusResponse", {
  header: one(1, header),
  version: text(2),
  dbSize: int64(3),
});

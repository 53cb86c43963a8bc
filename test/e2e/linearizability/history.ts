/** What clients sent and were answered, and what the store contains. */

/** The state of one object in an answer or an event. */
export interface Seen {
  readonly key: string;
  readonly revision: number;
  /** The write that stored it: each write sets a unique text. */
  readonly by: string;
}

export type Verb = "create" | "update" | "replace" | "patch" | "delete" | "get" | "list";

/** What a request expected of the state, and what it was answered. */
export interface Operation {
  readonly verb: Verb;
  /** Empty for lists. */
  readonly key: string;
  /** The unique text of a write. */
  readonly by: string;
  /** The resourceVersion of an update; that of a read, where "" is a consistent one. */
  readonly resourceVersion: string;
  /** Positions in the order of all beginnings and ends. */
  readonly start: number;
  readonly end: number;
  readonly answer: Answer;
}

/** An answer is unknown after errors of the connection and after 429 and 5xx. */
export type Answer =
  | { readonly kind: "unknown" }
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "object"; readonly object: Seen }
  | { readonly kind: "deleted"; readonly uid: string }
  | { readonly kind: "list"; readonly revision: number; readonly objects: readonly Seen[] };

/** A change in the store. */
export interface Change {
  readonly key: string;
  readonly revision: number;
  /** Undefined for a deletion. */
  readonly state: StoredState | undefined;
}

export interface StoredState {
  readonly by: string;
  readonly uid: string;
  /** The field that patches do not change. */
  readonly value: string;
}

/** What an informer received after one list. */
export interface Delivered {
  readonly informer: string;
  /** The resourceVersion of the list. */
  readonly from: number;
  readonly listed: readonly Seen[];
  readonly events: (Seen & { readonly type: string })[];
}

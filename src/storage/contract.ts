/**
 * The storage contract: ordered keys, revisions, conditional transactions and a log of changes. The registry writes to
 * it, the watch caches follow it, and others read at most a key, a count or the revision. See docs/architecture.md,
 * "Storage".
 */

/**
 * Encoding metadata stored with a value, so that responses are built from its bytes without
 * parsing them. Engines that cannot store it (etcd) return undefined.
 */
export interface Seal {
  /** 32-bit fingerprint of the resource definition that encoded the value. */
  readonly fingerprint: number;
  /**
   * Byte offset at which `"resourceVersion":"…",` is inserted. The trailing comma is always valid,
   * because a stored object has a creationTimestamp after it.
   */
  readonly versionOffset: number;
  /** Byte offset after `"kind":…,"apiVersion":…,`, which items of built-in lists omit. */
  readonly itemOffset: number;
}

/** A key with its value at some revision. */
export interface Stored {
  readonly key: string;
  /** Revision of the latest change of this key. */
  readonly revision: number;
  /**
   * The object without resourceVersion; must not be modified. With a seal, it is JSON in the storage
   * version. Without one, it may have any encoding in which kube-apiserver stores objects (JSON,
   * protobuf, YAML, CBOR), at any version that can be stored.
   */
  readonly value: Buffer;
  readonly seal?: Seal;
  /** Set when the stored record is damaged: the reason. The value is empty then. */
  readonly damage?: string;
  /** Set when the value is encrypted and cannot be decrypted: the reason. The value is as it is stored then. */
  readonly unreadable?: string;
  /** Whether a write of the same value would store other bytes, because a key or provider has changed. */
  readonly isStale?: boolean;
}

/** A precondition of a commit. */
export interface Check {
  readonly key: string;
  /** The revision the key must have; 0 means the key is absent. */
  readonly revision: number;
}

/** A put or a deletion in a commit. */
export interface Write {
  readonly key: string;
  /** null deletes the key. */
  readonly value: Buffer | null;
  readonly seal?: Seal;
  /**
   * The same object in the encoding that a store shared with kube-apiserver keeps in place of
   * `value` (see `--storage-media-type`). Embedded engines ignore it.
   */
  readonly shared?: Buffer;
  /** Seconds after which the store deletes the key, unless it is written again before. */
  readonly ttlSeconds?: number;
}

/** What a {@link DerivedWrite} stores. */
export interface DerivedValue {
  readonly value: Buffer;
  readonly seal?: Seal;
  /** As in {@link Write}. */
  readonly shared?: Buffer;
}

/**
 * A put whose value depends on the state that it replaces, so that it never conflicts. An engine may
 * leave out such a put when another derived one of the same key follows and becomes durable together
 * with it: the log then has only the last, at its revision, and the states between them are those of
 * the other keys. A commit with its derived writes is durable completely or not at all anyway.
 */
export interface DerivedWrite {
  readonly key: string;
  /**
   * Called once while the commit is decided, without waiting. It must not call the engine.
   * @param newest the state that the commit replaces, which may not be durable yet; undefined when
   *   the key is absent
   * @returns undefined to leave the key as it is
   * @throws to reject the whole commit: `commit` rejects with the same error, once the state that
   *   caused it is durable
   */
  derive(newest: Stored | undefined): DerivedValue | undefined;
}

/** The result of a successful commit. */
export interface Committed {
  readonly ok: true;
  /** The revision shared by all writes. */
  readonly revision: number;
}

/** The result of a commit whose preconditions do not hold. */
export interface Conflict {
  readonly ok: false;
  /** Key of the first check that failed. */
  readonly key: string;
  /** The current state of the key; undefined when it is absent. */
  readonly current: Stored | undefined;
}

/** One change of a key, as log subscribers receive it. */
export interface LogEvent {
  readonly type: "put" | "delete";
  readonly key: string;
  /** Revision of this change. */
  readonly revision: number;
  /** Revision this key had before; 0 when it was absent. */
  readonly previousRevision: number;
  /** Time of the commit in milliseconds since 1970. */
  readonly at: number;
  /** The new value; for a deletion, the last value before it. */
  readonly value: Buffer;
  readonly seal?: Seal;
  /** As in {@link Stored}. Set on a deletion whose last value could not be read. */
  readonly damage?: string;
  /** As in {@link Stored}. */
  readonly unreadable?: string;
  /**
   * Reads the state before the change. Undefined when the key was absent, or when the engine does
   * not have that state. The embedded engines guarantee it only during the call of `events`.
   */
  readonly previous?: () => Stored;
}

/** A page of a range of keys. */
export interface Range {
  /** In key order. */
  readonly entries: Stored[];
  /** The revision at which the range was read. */
  readonly revision: number;
  /** Whether keys remain after the last entry. */
  readonly more: boolean;
}

/** Options of a range. Keys are ordered by their UTF-8 bytes. */
export interface RangeOptions {
  /** Start after this key. */
  readonly after?: string;
  /**
   * The maximum number of entries; unlimited when unset. There can be fewer, with `more`, when they
   * are large.
   */
  readonly limit?: number;
  /** Read the state at this revision; the newest when unset. */
  readonly revision?: number;
  /** The caller does not use the values: a remote store need not send them, and they may be empty. */
  readonly keysOnly?: boolean;
}

/**
 * Receives the changes of the keys with one prefix. Its methods are never called before `log` has
 * returned.
 */
export interface LogSubscriber {
  /**
   * Receives events in order, in whole commits, about a thousand at most. Subscribers of one prefix
   * share the array, so it must not be modified. Must return without waiting. When it throws, the
   * subscription ends with its error.
   */
  events(batch: readonly LogEvent[]): void;
  /**
   * Reports that no more events at or below this revision will follow for the prefix. Called after
   * each batch; in a store with `reportsProgress` also soon after `log` returned, and whenever the
   * revision of the store advances.
   */
  progress(revision: number): void;
  /**
   * Reports that the subscription has ended.
   * @param error undefined when the store was closed; otherwise RevisionCompacted when the
   *   subscriber needs compacted history, HistoryDamaged, RevisionsWentBack, the error of a change
   *   that cannot be read, or the error that the subscriber threw
   */
  end(error: Error | undefined): void;
}

/** A subscription of the log. */
export interface Subscription {
  /** Ends the subscription; the subscriber is not called again. */
  close(): void;
}

/** A change of the keys that encrypt values. Each one is another object. */
export interface KeyChange {
  /** Values of this revision and earlier ones may have been encrypted with keys that are lost. */
  readonly until: number;
}

/**
 * A storage engine. After `close`, or after StorageLost, every method that reads or writes throws
 * StorageUnavailable.
 */
export interface Storage {
  /**
   * Whether other processes write to the store, also kube-apiserver: the encoding of values is then
   * that of `Write.shared`, and seals are not stored.
   */
  readonly isShared: boolean;
  /**
   * Whether values of the key are encrypted, so that equal objects can be stored as different bytes. Engines do not
   * encrypt.
   */
  encrypts?(key: string): boolean;
  /** The newest change of the keys that encrypt values of the key; undefined when there was none. */
  keyChange?(key: string): KeyChange | undefined;
  /**
   * Whether subscribers of the log reach each revision that `current` returns soon. If not, only a
   * read of the store shows its newest state.
   */
  readonly reportsProgress: boolean;
  /**
   * Reads a key.
   * @param revision the state to read; the newest when unset
   * @returns undefined when the key is absent
   * @throws RevisionCompacted
   * @throws RevisionInFuture
   */
  get(key: string, revision?: number): Promise<Stored | undefined>;
  /**
   * Reads the keys with a prefix, in order. The result is one consistent state, also during
   * concurrent writes.
   * @throws RevisionCompacted
   * @throws RevisionInFuture
   */
  range(prefix: string, options?: RangeOptions): Promise<Range>;
  /**
   * Finds the keys with the prefix that have changed after a revision. Only engines whose log has them do so.
   * @returns undefined when there are more than `max`
   * @throws RevisionCompacted
   * @throws RevisionInFuture
   */
  changedKeys?(prefix: string, after: number, max: number): Promise<readonly string[] | undefined>;
  /** Counts the current keys with the prefix. */
  count(prefix: string): Promise<number>;
  /**
   * Applies all writes, or none. Resolves after the writes are durable (as configured for the
   * engine) and after every log subscriber in this process that has caught up received their
   * events; a shared store waits for those a bounded time. A conflict also reports a durable state.
   * @param checks preconditions, evaluated atomically with the writes
   * @param writes at most 128, one per key. Deletions of absent keys change nothing, and a commit
   *   without changes returns the current revision. Derived writes are evaluated when all checks
   *   hold.
   * @throws StorageUnavailable when the writes could not be made durable (none of them is visible
   *   then, except that a SharedStoreError leaves it open), when too many writes wait, or after `close`
   * @throws ValueTooLarge when a value is over the engine's object limit (1.5 MiB by default), or a
   *   key is over 1900 bytes
   * @throws AssertionError when the caller breaks these rules
   */
  commit(checks: readonly Check[], writes: readonly (Write | DerivedWrite)[]): Promise<Committed | Conflict>;
  /**
   * Subscribes to the changes of keys with the prefix.
   * @param from the revision after which events are delivered
   * @throws RevisionCompacted when that history is no longer stored; a shared store may end the
   *   subscription with it instead
   * @throws RevisionInFuture
   */
  log(prefix: string, from: number, subscriber: LogSubscriber): Subscription;
  /**
   * Deletes history: states before the revision can no longer be read.
   * @throws RevisionInFuture
   * @throws StorageUnavailable
   */
  compact(revision: number): Promise<void>;
  /**
   * Checks that reads work.
   * @throws StorageUnavailable with the reason when they do not
   */
  checkReadable(): Promise<void>;
  /**
   * Checks that reads and writes work: repeats the last read if it failed, and writes to the disk
   * if the last write failed.
   * @throws StorageUnavailable with the reason when they do not
   */
  checkWritable(): Promise<void>;
  /**
   * Returns the newest revision that is visible to readers. An empty store is at revision 1.
   * @throws StorageUnavailable after `close` or StorageLost
   */
  current(): Promise<number>;
  /** Returns the newest compacted revision; reads and logs from earlier revisions fail. */
  compacted(): number;
  /**
   * Reads the size on disk or in memory, for metrics.
   * @throws StorageUnavailable when a shared store does not answer within a second
   */
  sizeBytes(): Promise<number>;
  /**
   * Keeps the bytes of this state and of later ones as they are in the file, for a process that
   * reads the file itself, until the pin is released. Writes go on and grow the file.
   */
  pin(): StatePin;
  /**
   * From now on, requests to a store that cannot be reached fail instead of waiting for it, so that
   * the server can end. Only shared stores have it.
   */
  stopWaiting?(): void;
  /**
   * Waits for requests in progress, then ends every subscription. Further calls wait for the same.
   */
  close(): Promise<void>;
}

/** Holds a state of the file of a store; see {@link Storage.pin}. */
export interface StatePin {
  /** False when the state could not be held: the store is shared, was closed, or was reopened after a fault. */
  readonly isHeld: boolean;
  release(): void;
}

/** A kind of request to a shared store, as metrics name it. */
export type StoreOperation = "get" | "list" | "listWithCount" | "create" | "update" | "delete";

/** Receives what happens between this process and a shared store, for metrics. */
export interface StorageObserver {
  /**
   * Reports a request that begins.
   * @param key a key that it reads or writes, or the prefix of a list; undefined for a read of the newest revision,
   *   which all resources share
   * @returns a function that reports its end
   */
  requested(operation: StoreOperation, key: string | undefined): (succeeded: boolean) => void;
  /** Reports a new log. @returns a function that reports a confirmation of its progress by the store */
  subscribed(prefix: string): () => void;
  /** Reports a new lease. @param keys those of the one that it replaces, and the first of its own */
  leased(keys: number): void;
  /** Reports the size of a member's database; undefined when it does not answer. */
  memberSize(url: string, bytes: number | undefined): void;
}

/** The requested revision is older than the compacted revision. */
export class RevisionCompacted extends Error {
  readonly compactedRevision: number;
  constructor(compactedRevision: number) {
    super("mvcc: required revision has been compacted");
    this.compactedRevision = compactedRevision;
    this.name = "RevisionCompacted";
  }
}

/** A damaged record makes the history before it unreadable. Callers handle it like a compaction. */
export class HistoryDamaged extends RevisionCompacted {
  constructor(revision: number) {
    super(revision);
    this.name = "HistoryDamaged";
  }
}

/**
 * The store has another history than before, because an older state of it was restored. Callers
 * handle it like a compaction.
 */
export class RevisionsWentBack extends RevisionCompacted {
  constructor(revision: number) {
    super(revision);
    this.name = "RevisionsWentBack";
  }
}

/** A stored record is damaged. */
export class DamagedRecord extends Error {
  constructor(problem: string) {
    super(`the stored record is damaged: ${problem}`);
    this.name = "DamagedRecord";
  }
}

/**
 * The store is damaged and is not opened. The message names the file, the problem, and the remedy.
 */
export class DamagedStore extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DamagedStore";
  }
}

/** The requested revision is newer than the current one. */
export class RevisionInFuture extends Error {
  readonly currentRevision: number;
  constructor(currentRevision: number) {
    super("mvcc: required revision is a future revision");
    this.currentRevision = currentRevision;
    this.name = "RevisionInFuture";
  }
}

/** The store is closed, overloaded, or its disk fails. */
export class StorageUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StorageUnavailable";
  }
}

/**
 * A shared store did not answer, or answered with an error. It is not known whether a write was
 * made. The message is that of the store.
 */
export class SharedStoreError extends StorageUnavailable {
  /** Whether it did not answer in time. */
  readonly isTimeout: boolean;
  constructor(message: string, { isTimeout, cause }: { readonly isTimeout: boolean; readonly cause?: unknown }) {
    super(message, { cause });
    this.isTimeout = isTimeout;
    this.name = "SharedStoreError";
  }
}

/**
 * The engine can no longer guarantee correct reads or writes in this process; only a restart helps.
 */
export class StorageLost extends StorageUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StorageLost";
  }
}

/** What upstream's client of etcd sends at most; it rejects larger messages before etcd does. */
const sentBytesMax = 2 << 20;

/** A value or key exceeds the limits of the engine. The message is upstream's. */
export class ValueTooLarge extends Error {
  readonly bytes: number;
  readonly bytesMax: number;
  constructor(bytes: number, bytesMax: number) {
    super(
      bytes > sentBytesMax
        ? `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${bytes} vs. ${sentBytesMax})`
        : "etcdserver: request is too large",
    );
    this.bytes = bytes;
    this.bytesMax = bytesMax;
    this.name = "ValueTooLarge";
  }
}

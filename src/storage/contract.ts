/** Ordered keys, revisions, guarded transactions, a log. Known to the registry and the watch cache only. Source: architecture, "Storage contract". */

/** What the embedded engines keep beside a value so that it can be served unparsed. An engine that cannot keep it (etcd) reads back undefined. */
export interface Seal {
  /** Fingerprint of the definition that encoded the value: 32 bits. */
  readonly fingerprint: number;
  /** Byte offset where `"resourceVersion":"…",` is spliced in, its comma included: something always follows, since a stored object has a creationTimestamp. */
  readonly versionOffset: number;
  /** Byte offset of the first byte after `"kind":…,"apiVersion":…,`, which list items of built-ins leave out. */
  readonly itemOffset: number;
}

export interface Stored {
  readonly key: string;
  /** Revision of the last change of this key. */
  readonly revision: number;
  /** The object's JSON in the storage version, without resourceVersion. Never changed by anyone after it is handed over. */
  readonly value: Buffer;
  readonly seal?: Seal;
  /** Why the store's record of it cannot be trusted; the value is empty then. */
  readonly damage?: string;
}

export interface Check {
  readonly key: string;
  /** The revision the key must have; 0 means the key is absent. */
  readonly revision: number;
}

export interface Write {
  readonly key: string;
  /** null deletes. */
  readonly value: Buffer | null;
  readonly seal?: Seal;
  /** Seconds until the key is deleted by the store, unless it is written again before. */
  readonly ttlSeconds?: number;
}

export interface Committed {
  readonly ok: true;
  /** The one revision all writes share. */
  readonly revision: number;
}

export interface Conflict {
  readonly ok: false;
  readonly key: string;
  /** The key's present state; undefined when it is absent. */
  readonly current: Stored | undefined;
}

export interface LogEvent {
  readonly type: "put" | "delete";
  readonly key: string;
  /** Revision of this change. */
  readonly revision: number;
  /** Revision this key had before; 0 when it was absent. */
  readonly previousRevision: number;
  /** Milliseconds since 1970 when it was committed. */
  readonly at: number;
  /** The new value; for a deletion the last one. */
  readonly value: Buffer;
  readonly seal?: Seal;
  /** As of {@link Stored}: of a deletion, the last value could not be read. */
  readonly damage?: string;
  /** Reads the state before, where the engine still has it at hand; the embedded engines have it while the event is delivered. */
  readonly previous?: () => Stored;
}

export interface Range {
  readonly entries: Stored[];
  /** The revision the answer shows. */
  readonly revision: number;
  /** Whether keys remain after the last entry. */
  readonly more: boolean;
}

/** Keys are ordered as their UTF-8 bytes are. */
export interface RangeOptions {
  /** Start after this key. */
  readonly after?: string;
  readonly limit?: number;
  /** Show the state at this revision; the newest when unset. */
  readonly revision?: number;
}

export interface LogSubscriber {
  /**
   * Events in order, whole commits, at most about a thousand; never called before `log` has returned. Subscribers of one prefix share the array.
   * Must not wait, and should not throw: a subscriber that does is ended with its error.
   */
  events(batch: readonly LogEvent[]): void;
  /** No events at or below this revision will follow for the prefix. Called soon after `log` returned, after each batch, and when the store makes progress. */
  progress(revision: number): void;
  /** The subscription ended: it lagged too far behind, history is gone, or the store was closed. */
  end(error: Error | undefined): void;
}

export interface Subscription {
  close(): void;
}

export interface Storage {
  /** @throws RevisionCompacted · RevisionInFuture */
  get(key: string, revision?: number): Promise<Stored | undefined>;
  /** One state, even if others write while a long answer is put together. @throws RevisionCompacted · RevisionInFuture */
  range(prefix: string, options?: RangeOptions): Promise<Range>;
  count(prefix: string): Promise<number>;
  /**
   * Applies all writes, or none. Resolves after the writes are durable (as durable as the engine was told to be) and after
   * every log subscriber in this process that has caught up has been called with their events. A conflict, too, tells of a durable state.
   * @param checks what must hold at that moment
   * @param writes at most 128, each key once; deletions of absent keys change nothing, and a commit without changes has no revision of its own
   * @throws StorageUnavailable when the writes could not be made durable, none of them is visible then; when too many writes wait; after `close`
   * @throws ValueTooLarge when a value is over the engine's object limit (1.5 MiB by default), or a key over 1900 bytes
   */
  commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Conflict>;
  /** Changes of keys with this prefix, from the first one after `from`. @throws RevisionCompacted when that is no longer kept · RevisionInFuture */
  log(prefix: string, from: number, subscriber: LogSubscriber): Subscription;
  /** Forgets what was before the state at the revision. @throws RevisionInFuture · StorageUnavailable */
  compact(revision: number): Promise<void>;
  /**
   * Whether writes work. Writes something only when the last write has failed.
   * @throws StorageUnavailable with the reason when they do not
   */
  checkWritable(): Promise<void>;
  /** The newest revision that readers may see. An empty store starts at 1. @throws StorageUnavailable when only a restart helps */
  current(): Promise<number>;
  /** The newest compacted revision; reads below it fail, and logs from below it. */
  compacted(): number;
  /** Bytes on disk or in memory, for metrics. */
  sizeBytes(): number;
  /** Waits for what is under way, then ends every subscription. */
  close(): Promise<void>;
}

export class RevisionCompacted extends Error {
  readonly compactedRevision: number;
  constructor(compactedRevision: number) {
    super("mvcc: required revision has been compacted");
    this.compactedRevision = compactedRevision;
    this.name = "RevisionCompacted";
  }
}

/** History cannot be read past the revision: to readers it is as gone as if it had been compacted. */
export class HistoryDamaged extends RevisionCompacted {
  constructor(revision: number) {
    super(revision);
    this.name = "HistoryDamaged";
  }
}

/** A record of the store that is not what was written. */
export class DamagedRecord extends Error {
  constructor(problem: string) {
    super(`the stored record is damaged: ${problem}`);
    this.name = "DamagedRecord";
  }
}

/** A store that must not be opened as it is. The message names the file, what was found, and what to do. */
export class DamagedStore extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DamagedStore";
  }
}

export class RevisionInFuture extends Error {
  readonly currentRevision: number;
  constructor(currentRevision: number) {
    super("mvcc: required revision is a future revision");
    this.currentRevision = currentRevision;
    this.name = "RevisionInFuture";
  }
}

export class StorageUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StorageUnavailable";
  }
}

/** Thrown by an engine: neither its reads nor its writes can be trusted until the process restarts. */
export class StorageLost extends StorageUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StorageLost";
  }
}

export class ValueTooLarge extends Error {
  readonly bytes: number;
  readonly bytesMax: number;
  constructor(bytes: number, bytesMax: number) {
    super("etcdserver: request is too large");
    this.bytes = bytes;
    this.bytesMax = bytesMax;
    this.name = "ValueTooLarge";
  }
}

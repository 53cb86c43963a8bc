/** The two ends of a copy of a store: what is read, and what is written. */
import type { Seal } from "../contract.ts";

/** All keys of objects; keys of a store with another prefix are mapped to it. */
export const objectsPrefix = "/registry/";

/**
 * Keys that are not copied: addresses of running servers, which their servers write again every few
 * seconds. Source: `k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/server.go`,
 * `pkg/controlplane/instance.go`.
 */
const serversPrefixes = ["/registry/masterleases/", "/registry/peerserverleases/"];

/** Whether a key belongs to a running server, and not to the objects. */
export function isOfServer(key: string): boolean {
  return serversPrefixes.some((prefix) => key.startsWith(prefix));
}

/** An object as its bytes. */
export interface CopiedEntry {
  readonly key: string;
  /** The revision of its latest change. */
  readonly revision: number;
  readonly value: Buffer;
  readonly seal?: Seal;
  /** Milliseconds since 1970; 0 when it has expired at an unknown time. */
  readonly expiresAt?: number;
  /** Set when it cannot be read: the reason. The value is empty then. */
  readonly damage?: string;
  /** Whether the value is encrypted in another way than a new one. Only readers that decrypt set it. */
  readonly isStale?: boolean;
}

/** A page of the objects of a source. */
export interface SourcePage {
  /** In the order of the UTF-8 bytes of their keys. */
  readonly entries: readonly CopiedEntry[];
  /** The state that was read. */
  readonly revision: number;
  /** The page has every key up to this one; undefined when no keys remain. */
  readonly until: string | undefined;
}

/** A change of a key that is copied; null deletes it. */
export interface CopiedChange extends Omit<CopiedEntry, "value" | "damage"> {
  readonly value: Buffer | null;
}

/** Receives the changes of a source after some revision. */
export interface ChangeFeed {
  /** Every change up to this revision has been received. */
  readonly received: number;
  /** Whether received changes have not been taken. */
  readonly hasChanges: boolean;
  /**
   * Takes the first changes, in order and in whole revisions.
   * @param until the last revision to take
   * @throws RevisionCompacted when changes are missing
   */
  take(until: number): Promise<CopiedChange[]>;
  /**
   * Resolves when every change up to the revision has been received, or some can be taken.
   * @throws RevisionCompacted when changes are missing
   */
  reach(revision: number): Promise<void>;
  close(): void;
}

/** The store that is read. */
export interface CopySource {
  /** Identifies the store, so that another one does not continue the copy. */
  readonly id: string;
  /** Whether other processes may write to it. */
  readonly isLive: boolean;
  /** The number of its objects, for the display of progress. @throws StorageUnavailable */
  count(): Promise<number>;
  /** Its newest revision. @throws StorageUnavailable */
  current(): Promise<number>;
  /**
   * Reads the keys after `after`.
   * @param revision the state to read; the newest when unset
   * @throws RevisionCompacted · StorageUnavailable · DamagedStore
   */
  page(after: string | undefined, revision?: number): Promise<SourcePage>;
  /** Receives the changes after the revision. */
  follow(from: number): ChangeFeed;
  close(): Promise<void>;
}

/** A change in the history of a key. */
export interface HistoricChange {
  readonly revision: number;
  /** null for a deletion. */
  readonly value: Buffer | null;
}

/** A store whose objects are displayed. */
export interface StoreReader extends CopySource {
  /** Reads one key. @returns undefined when it is absent @throws StorageUnavailable */
  entry(key: string): Promise<CopiedEntry | undefined>;
  /**
   * The changes of a key that have not been compacted, and the state before them, oldest first.
   * Damaged records are not in it.
   * @throws StorageUnavailable · RevisionCompacted when changes are missing
   */
  history(key: string): AsyncIterable<HistoricChange>;
  /** The size of the database, with unused pages. @throws StorageUnavailable · Error of the system */
  sizeBytes(): Promise<number>;
}

/** An object in the target. */
export interface TargetEntry {
  readonly key: string;
  readonly value: Buffer;
  /** Whether it may expire. */
  readonly mayExpire: boolean;
  readonly damage?: string;
}

/** How far an unfinished copy is; it is stored in the target. */
export interface CopyMarker {
  readonly source: string;
  /** Changes of the source up to this revision are in the target, where the pass has been. */
  readonly applied: number;
  /** Keys up to this one have been passed; undefined before the first. */
  readonly passed?: string;
  /** Whether all keys have been passed. */
  readonly complete: boolean;
}

/** The store that is written. Only one copy writes to it. */
export interface CopyTarget {
  /** The marker of an unfinished copy, when the target was opened. */
  readonly marker: CopyMarker | undefined;
  /** The newest revision. */
  readonly revision: number;
  /**
   * Writes the marker; after the first one, another source cannot be copied.
   * @throws StorageUnavailable · Error when another copy writes to the store
   */
  mark(marker: CopyMarker): Promise<void>;
  /**
   * Raises the revision, so that later changes have higher ones.
   * @param progress called with the number of revisions that are done
   * @throws StorageUnavailable · Error when it is not possible, with what to do
   */
  raise(revision: number, progress?: (done: number, of: number) => void): Promise<void>;
  /** Iterates over the keys after `after` up to `until`, in order. @throws StorageUnavailable */
  entries(after: string | undefined, until: string | undefined): AsyncIterable<TargetEntry>;
  /**
   * Makes the changes, in any order; one per key.
   * @throws ValueTooLarge · StorageUnavailable · Error as `mark`, and for an object that etcd does not accept
   */
  write(changes: readonly CopiedChange[]): Promise<void>;
  /**
   * Ends the copy: older states can no longer be read, and the marker is removed.
   * @returns the revision at which the store continues
   * @throws StorageUnavailable · Error as `mark`
   */
  finish(): Promise<number>;
  close(): Promise<void>;
}

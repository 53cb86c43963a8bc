/** Reads of states that a cache does not have, from its store. */
import { type ApiError, expired, resourceVersionTooLarge, tooManyRequests } from "../apimachinery/errors.ts";
import { type KeyChange, RevisionCompacted, RevisionInFuture } from "../storage/contract.ts";
import type { Entry, Snapshot } from "./contract.ts";
import type { CacheCounts } from "./counts.ts";
import { supersededAt } from "./history.ts";
import { snapshotOf, type TreeSnapshot } from "./snapshots.ts";
import { type BaseState, readStored, readStoredAt, type StoredState, type StoredStateSource } from "./stored-state.ts";
import { readable } from "./unreadable.ts";

/** Maximum number of reads of old states that run or wait. */
const storedReadsMax = 128;

interface CacheState {
  /** The newest revision of the cache. */
  readonly revision: () => number;
  /** A state with entries that one at the revision can share; undefined when there is none. */
  readonly stateNear: (revision: number) => BaseState | undefined;
  /** Whether a time is before the history window. */
  readonly isBeforeWindow: (at: number) => boolean;
  /** Keeps a state that was read. */
  readonly keep: (snapshot: TreeSnapshot) => void;
}

/** The reads of one cache. */
export class StoredReads {
  readonly #source: StoredStateSource;
  readonly #counts: CacheCounts;
  readonly #cache: CacheState;
  /** The change of keys after which an entry could be decrypted. */
  readonly #readable = new WeakMap<Entry, KeyChange>();
  /** Running and waiting reads of old states, by revision. */
  readonly #pending = new Map<number, Promise<TreeSnapshot>>();
  /** A running read of the newest state, for revisions that the cache has not received. */
  #newest: Promise<Snapshot> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(source: StoredStateSource, counts: CacheCounts, cache: CacheState) {
    this.#source = source;
    this.#counts = counts;
    this.#cache = cache;
  }

  /** Reads one object. @throws ApiError 500 when it cannot be decoded */
  async get(key: string): Promise<Entry | undefined> {
    const { storage, entryOf } = this.#source;
    const stored = await storage.get(key);
    return stored && readable(stored, entryOf, this.#source);
  }

  /**
   * Returns an entry of the cache, which is read again once after each change of keys, as its key may be lost.
   * @throws ApiError 500 when it can no longer be decrypted
   */
  async checked(snapshot: Promise<Snapshot>, key: string): Promise<Entry | undefined> {
    const entry = (await snapshot).get(key);
    const change = this.#source.storage.keyChange?.(key);
    if (entry === undefined || change === undefined || entry.revision > change.until) return entry;
    if (this.#readable.get(entry) === change) return entry;
    const current = await this.get(key);
    if (current?.revision !== entry.revision) return current;
    this.#readable.set(entry, change);
    return entry;
  }

  /** Reads all objects. */
  all(): Promise<StoredState> {
    return readStored(this.#source, this.#counts);
  }

  /**
   * Reads the newest state, also for a request that started before the cache was closed, because the definition of its
   * resource has changed.
   * @throws ApiError 504 when the store does not have the revision
   */
  async current(notBefore: number): Promise<Snapshot> {
    const { tree, revision } = await this.all();
    if (revision < notBefore) throw resourceVersionTooLarge(notBefore, revision);
    return snapshotOf(tree, revision);
  }

  /**
   * Reads the newest state for a revision that the cache has not received. Callers share reads.
   * Source: `CacheDelegator.GetList` in k8s.io/apiserver@v0.36.0/pkg/storage/cacher/delegator.go.
   */
  async behindCache(notBefore: number): Promise<Snapshot> {
    if (this.#newest !== undefined) {
      const running = await this.#newest;
      if (running.revision >= notBefore) return running;
    }
    // Callers that waited for an older state share the next one.
    this.#newest ??= this.current(notBefore).finally(() => {
      this.#newest = undefined;
    });
    return this.#newest;
  }

  /**
   * Reads old states one at a time, so that each read can share entries with the previous ones.
   * Concurrent requests of a revision share the read.
   * @throws ApiError 429 when too many reads are waiting
   */
  queueAt(revision: number): Promise<TreeSnapshot> {
    const pending = this.#pending.get(revision);
    if (pending !== undefined) return pending;
    if (this.#pending.size >= storedReadsMax)
      throw tooManyRequests("Too many old states are being read, please try again later.", 1);
    const turn = this.#last.then(async () => {
      const snapshot = await this.at(revision);
      this.#cache.keep(snapshot);
      return snapshot;
    });
    const finish = (): void => void this.#pending.delete(revision);
    this.#last = turn.then(finish, finish);
    this.#pending.set(revision, turn);
    return turn;
  }

  /** Reads a state from the store's history. @throws ApiError 410 · ApiError 504 */
  async at(revision: number): Promise<TreeSnapshot> {
    try {
      if (await this.#isSupersededBeforeWindow(revision)) throw listExpired();
      const base = this.#cache.stateNear(revision);
      return snapshotOf(await readStoredAt(this.#source, this.#counts, revision, base), revision);
    } catch (error) {
      if (error instanceof RevisionCompacted) throw listExpired();
      if (error instanceof RevisionInFuture) throw resourceVersionTooLarge(revision, this.#cache.revision());
      throw error;
    }
  }

  /** A shared store does not know the times of its changes; compaction alone limits its history. */
  async #isSupersededBeforeWindow(revision: number): Promise<boolean> {
    const { storage } = this.#source;
    if (storage.isShared) return false;
    const at = await supersededAt(this.#source, { after: revision, to: await storage.current() });
    return at !== undefined && this.#cache.isBeforeWindow(at);
  }
}

/** The error of an exact list of a state that is too old. */
export function listExpired(): ApiError {
  return expired("The resourceVersion for the provided list is too old.");
}

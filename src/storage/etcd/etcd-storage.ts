/**
 * Objects in a cluster of etcd, which several servers share, also with kube-apiserver. Reads and
 * commits are calls; logs share watch streams. Every call returns the newest revision, so a store
 * whose revisions went back, because an old backup was restored, is noticed.
 *
 * **Invariant:** `current` returns a revision that is at least that of every write that any client
 * of the cluster was answered before the call.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { Integer } from "../../lib/json/values.ts";
import { checkValue, checkWrites } from "../check-writes.ts";
import {
  type Check,
  type Committed,
  type Conflict,
  type DerivedWrite,
  type LogSubscriber,
  type Range,
  type RangeOptions,
  RevisionCompacted,
  RevisionInFuture,
  RevisionsWentBack,
  type StatePin,
  type Storage,
  type StorageObserver,
  StorageUnavailable,
  type Stored,
  type StoreOperation,
  type Subscription,
  ValueTooLarge,
  type Write,
} from "../contract.ts";
import { EtcdClient, type EtcdClientOptions, rangeMethod } from "./api/client.ts";
import type { Header, KeyValue, RangeRequest, RangeResponse, WatchEvent } from "./api/messages.ts";
import { outsideRequests, sharedCall } from "./api/traced-call.ts";
import { BatchedRead } from "./batched-read.ts";
import { watchCompactions } from "./compaction-watch.ts";
import { compactSometimes } from "./compactor.ts";
import { DerivedCommits } from "./derived-commits.ts";
import { firstAnswer } from "./first-answer.ts";
import { type Keys, keysWithPrefix } from "./keys.ts";
import { Leases } from "./leases.ts";
import { LogWatch } from "./log-watch.ts";
import { pollMemberSizes } from "./member-sizes.ts";
import { OwnWrites } from "./own-writes.ts";
import { readRange } from "./range.ts";
import { RequestsInProgress } from "./requests-in-progress.ts";
import { answersProgress } from "./server-version.ts";
import { conflictOf, operationOf, type PlainCommit, txnOf } from "./transaction.ts";
import { Watches } from "./watches.ts";

export interface EtcdOptions extends EtcdClientOptions {
  /** Replaces `/registry` at the start of keys. */
  readonly prefix: string;
  readonly logger?: Logger;
  readonly observer?: StorageObserver;
  /** Maximum bytes of a value. */
  readonly valueBytesMax: number;
  /** How long keys with a time to live join a lease. */
  readonly leaseReuseSeconds: number;
  /** Limits of `checkReadable` and `checkWritable`. */
  readonly healthTimeoutMs: number;
  readonly readyTimeoutMs: number;
  /** How often the sizes of the members' databases are reported; 0: never. */
  readonly sizePollMs: number;
  /** How often the history is compacted to its state one interval before; 0: never. */
  readonly compactionIntervalMs: number;
  /** How long `openEtcdStorage` waits for a member. */
  readonly startTimeoutMs: number;
  /** Replaces the check of the versions of members. */
  readonly answersProgress?: typeof answersProgress;
  /** Commits that wait for an answer; above it, `commit` throws StorageUnavailable. */
  readonly waitingMax?: number;
}

const waitingMaxDefault = 10_000;
/** The versions of the members are read again after this time. */
const learnAgainMs = 5_000;
/** A commit waits for its events so long. */
const deliveryMs = 250;
/** How long `sizeBytes` waits. Source: `CollectWithStability` in `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/metrics/metrics.go`. */
const sizeTimeoutMs = 1_000;
/** How long `count` waits: no request depends on it, and its metric shows that it failed. */
const countTimeoutMs = 10_000;
/** The key that health checks read. Source: `k8s.io/apiserver@v0.36.0/pkg/storage/storagebackend/factory/etcd3.go`. */
const healthKey = "/registry/health";

/**
 * Connects to a cluster.
 * @throws StorageUnavailable when no member answers in time
 */
export async function openEtcdStorage(options: EtcdOptions): Promise<Storage> {
  const client = new EtcdClient(options);
  try {
    const header = await firstAnswer(client, keysWithPrefix(options.prefix).toEtcd(healthKey), options);
    const storage = new EtcdStorage(client, options, header);
    await storage.learnProgress();
    return storage;
  } catch (error) {
    client.close();
    throw error;
  }
}

class EtcdStorage implements Storage {
  readonly isShared = true;
  readonly #client: EtcdClient;
  readonly #options: EtcdOptions;
  readonly #clock: Clock;
  readonly #keys: Keys;
  readonly #watches: Watches;
  readonly #logs = new Set<LogWatch>();
  readonly #requests = new RequestsInProgress();
  readonly #leases: Leases;
  readonly #own = new OwnWrites();
  readonly #derived: DerivedCommits;
  readonly #currentRead: BatchedRead<number>;
  readonly #stopCompactor: () => void;
  readonly #stopSizes: () => void;
  #clusterId: Integer;
  /** The newest revision of any answer. */
  #seen: number;
  #compacted = 0;
  #reportsProgress = false;
  #cancelLearning = (): void => {};
  #lastChange: WatchEvent | undefined;
  #closed: Promise<void> | undefined;

  constructor(client: EtcdClient, options: EtcdOptions, { cluster_id: clusterId, revision }: Header) {
    this.#client = client;
    this.#options = options;
    this.#clock = options.clock;
    this.#clusterId = clusterId;
    this.#seen = revision;
    this.#keys = keysWithPrefix(options.prefix);
    this.#leases = new Leases({
      client,
      clock: options.clock,
      reuseSeconds: options.leaseReuseSeconds,
      leased: (keys) => options.observer?.leased(keys),
    });
    this.#watches = new Watches({
      client,
      clock: options.clock,
      logger: options.logger,
      checkCluster: async () => this.#checkHistory(await this.#readCurrent()),
      answersProgress: () => this.#reportsProgress,
      allowed: this.#keys.rangeOf("/registry/"),
    });
    this.#currentRead = new BatchedRead(() => outsideRequests(() => this.#tracked(() => this.#readCurrent())));
    this.#derived = new DerivedCommits({
      read: (key) => this.#get(key, undefined),
      commit: (checks, writes) => this.#commitPlain({ checks, writes }),
      checkValue: (value) => checkValue(value, options.valueBytesMax),
    });
    const compacted = (revision: number): void => {
      this.#compacted = Math.max(this.#compacted, revision);
    };
    const stopCompactor = compactSometimes(client, options, compacted);
    const stopWatch = watchCompactions({ client, clock: options.clock, logger: options.logger, compacted });
    this.#stopCompactor = () => {
      stopCompactor();
      stopWatch();
    };
    this.#stopSizes = pollMemberSizes(client, options);
  }

  get reportsProgress(): boolean {
    return this.#reportsProgress;
  }

  /**
   * Reads the versions of all members; again later, when one of them does not answer. Until then, and
   * with an old member, watches share one, and reads that the cache cannot serve read the store.
   */
  async learnProgress(): Promise<void> {
    const { healthTimeoutMs, logger, answersProgress: check = answersProgress } = this.#options;
    const statuses = await this.#client.statuses(healthTimeoutMs).catch(() => undefined);
    if (statuses !== undefined) {
      this.#reportsProgress = check(statuses);
      if (!this.#reportsProgress)
        logger?.warn("etcd is too old for progress requests", { versions: statuses.map(({ version }) => version) });
    } else if (this.#closed === undefined)
      this.#cancelLearning = this.#clock.after(learnAgainMs, () => this.learnProgress());
  }

  get(key: string, revision?: number): Promise<Stored | undefined> {
    return this.#tracked(() => this.#get(key, revision));
  }

  async #get(key: string, revision: number | undefined): Promise<Stored | undefined> {
    const request = { key: this.#keys.toEtcd(key), ...(revision !== undefined && { revision }) };
    const { kvs } = await this.#observed("get", key, () => this.#range(request));
    return kvs?.[0] && this.#stored(kvs[0]);
  }

  range(prefix: string, options: RangeOptions = {}): Promise<Range> {
    const read = (request: RangeRequest) => this.#observed("list", prefix, () => this.#range(request));
    const source = { keys: this.#keys, read, storedOf: (kv: KeyValue) => this.#stored(kv) };
    return this.#tracked(() => readRange(source, prefix, options));
  }

  async count(prefix: string): Promise<number> {
    const { key, rangeEnd } = this.#keys.rangeOf(prefix);
    const request = { key, range_end: rangeEnd, count_only: true };
    const read = () => this.#observed("listWithCount", prefix, () => this.#range(request, countTimeoutMs));
    return (await this.#tracked(read)).count;
  }

  async commit(checks: readonly Check[], writes: readonly (Write | DerivedWrite)[]): Promise<Committed | Conflict> {
    this.#checkOpen();
    checkWrites(writes, this.#options.valueBytesMax);
    if (this.#requests.count >= (this.#options.waitingMax ?? waitingMaxDefault))
      throw new StorageUnavailable(`too many writes are waiting for etcd: ${this.#requests.count}`);
    if (checks.length === 0 && writes.length === 0) return { ok: true, revision: await this.current() };
    return this.#tracked(() => this.#derived.commit(checks, writes));
  }

  log(prefix: string, from: number, subscriber: LogSubscriber): Subscription {
    this.#checkOpen();
    if (from > this.#seen) throw new RevisionInFuture(this.#seen);
    if (from < this.#compacted) throw new RevisionCompacted(this.#compacted);
    const watch = new LogWatch({
      ...this.#keys.rangeOf(prefix),
      prefix,
      from,
      subscriber,
      storedOf: (kv) => this.#stored(kv),
      received: (event) => this.#received(event),
      bookmark: this.#options.observer?.subscribed(prefix),
      now: () => this.#clock.now(),
      ended: () => this.#drop(watch),
    });
    this.#logs.add(watch);
    this.#watches.progressTo(this.#seen);
    this.#watches.add(watch);
    return { close: () => watch.end() };
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    await this.#client.compact(revision).catch((error: unknown) => {
      if (!(error instanceof RevisionCompacted)) this.#rethrow(error);
    });
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async checkReadable(): Promise<void> {
    await this.#range({ key: this.#keys.toEtcd(healthKey) }, this.#options.healthTimeoutMs);
  }

  async checkWritable(): Promise<void> {
    await this.#range({ key: this.#keys.toEtcd(healthKey) }, this.#options.readyTimeoutMs);
  }

  current(): Promise<number> {
    return sharedCall(rangeMethod.path, () => this.#currentRead.read());
  }

  compacted(): number {
    return this.#compacted;
  }

  async sizeBytes(): Promise<number> {
    return (await this.#client.status(sizeTimeoutMs)).dbSize;
  }

  pin(): StatePin {
    return { isHeld: false, release() {} };
  }

  stopWaiting(): void {
    this.#client.stopWaiting();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopCompactor();
    this.#stopSizes();
    this.#cancelLearning();
    this.#client.stopWaiting();
    await this.#requests.ended(this.#clock);
    for (const log of [...this.#logs]) log.end({ error: undefined });
    this.#watches.close();
    this.#client.close();
  }

  /** Runs a request; `close` waits for it. */
  async #tracked<Answer>(run: () => Promise<Answer>): Promise<Answer> {
    this.#checkOpen();
    return this.#requests.run(run);
  }

  /** Reports a request to the observer. */
  async #observed<Answer>(
    operation: StoreOperation,
    key: string | undefined,
    run: () => Promise<Answer>,
  ): Promise<Answer> {
    const ended = this.#options.observer?.requested(operation, key);
    let succeeded = false;
    try {
      const answer = await run();
      succeeded = true;
      return answer;
    } finally {
      ended?.(succeeded);
    }
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new StorageUnavailable("the store is closed");
  }

  #received(event: WatchEvent): void {
    const { key, value, mod_revision: revision } = event.kv;
    this.#own.delivered(this.#keys.fromEtcd(key), value);
    if (revision > (this.#lastChange?.kv.mod_revision ?? 0)) this.#lastChange = event;
  }

  /**
   * Checks that the cluster still has the last change that a log has received. After an older state
   * was restored, other clients can have made as many changes since.
   */
  async #checkHistory(current: number): Promise<void> {
    const last = this.#lastChange;
    if (last === undefined) return;
    const { key, mod_revision: revision } = last.kv;
    try {
      const { header, kvs } = await this.#range({ key, revision });
      if (this.#lastChange === last && !isChange(last, kvs?.[0])) this.#startOver(current, header.cluster_id);
    } catch (error) {
      if (!(error instanceof RevisionCompacted)) throw error;
    }
  }

  #drop(watch: LogWatch): void {
    this.#logs.delete(watch);
    this.#watches.remove(watch);
  }

  async #readCurrent(): Promise<number> {
    const request = { key: this.#keys.toEtcd(healthKey), count_only: true };
    const { header } = await this.#observed("get", undefined, () => this.#range(request));
    this.#watches.progressTo(header.revision);
    return header.revision;
  }

  async #range(request: RangeRequest, timeoutMs?: number): Promise<RangeResponse> {
    const atLeast = this.#seen;
    try {
      const response = await this.#client.range(request, timeoutMs);
      this.#observe(response.header, atLeast);
      return response;
    } catch (error) {
      return this.#rethrow(error, request.revision);
    }
  }

  /** Sends a commit without derived writes, and waits for its events. */
  async #commitPlain(commit: PlainCommit): Promise<Committed | Conflict> {
    const leases = await this.#leasesOf(commit.writes);
    const atLeast = this.#seen;
    for (const write of commit.writes) this.#own.add(write);
    const { operation, key } = operationOf(commit);
    const request = txnOf(commit, this.#keys, leases);
    const response = await this.#observed(operation, key, () => this.#client.txn(request)).catch((error: unknown) =>
      this.#rethrow(error),
    );
    const { revision } = response.header;
    this.#observe(response.header, atLeast);
    if (!response.succeeded) return conflictOf(commit, response, (kv) => this.#stored(kv));
    await this.#delivered(commit.writes, revision);
    return { ok: true, revision };
  }

  async #leasesOf(writes: readonly Write[]): Promise<ReadonlyMap<string, Integer>> {
    const leases = new Map<string, Integer>();
    for (const { key, ttlSeconds } of writes) {
      if (ttlSeconds !== undefined) leases.set(key, await this.#leases.get(ttlSeconds));
    }
    return leases;
  }

  /** Waits until the logs of this process have the events, but not for a log that has lost its stream. */
  async #delivered(writes: readonly Write[], revision: number): Promise<void> {
    for (const log of logsOf(this.#logs, writes)) {
      if (log.delivered >= revision || !log.isLive || !this.#watches.isConnected(log)) continue;
      await log.reached(revision, this.#clock, deliveryMs);
    }
  }

  #stored({ key, mod_revision: revision, value }: KeyValue): Stored {
    const text = this.#keys.fromEtcd(key);
    return { key: text, revision, ...this.#own.restore(text, value) };
  }

  /** @param atLeast the newest revision before the call, which a read of the cluster cannot precede */
  #observe({ revision, cluster_id: clusterId }: Header, atLeast: number): void {
    if (revision < atLeast || clusterId !== this.#clusterId) this.#startOver(revision, clusterId);
    else this.#seen = Math.max(this.#seen, revision);
  }

  /** The cluster has another history: everything that was derived from the old one is dropped. */
  #startOver(revision: number, clusterId: Integer): void {
    this.#options.logger?.warn("etcd has another history, because an older state was restored", {
      from: this.#seen,
      to: revision,
    });
    const error = new RevisionsWentBack(revision);
    this.#seen = revision;
    this.#clusterId = clusterId;
    this.#lastChange = undefined;
    this.#compacted = 0;
    this.#watches.startOver(revision);
    for (const log of [...this.#logs]) log.end({ error });
  }

  /** Adds the revisions and sizes that etcd's errors do not contain. */
  #rethrow(error: unknown, revision = 0): never {
    if (error instanceof RevisionCompacted) throw new RevisionCompacted(Math.max(this.#compacted, revision + 1));
    if (error instanceof RevisionInFuture) throw new RevisionInFuture(this.#seen);
    if (error instanceof ValueTooLarge) throw new ValueTooLarge(0, this.#options.valueBytesMax);
    throw error;
  }
}

/** The logs with the keys. There are more than a hundred in all, so this must be cheap. */
function logsOf(logs: Iterable<LogWatch>, writes: readonly Write[]): LogWatch[] {
  const found: LogWatch[] = [];
  for (const log of logs) {
    for (const { key } of writes) {
      if (!key.startsWith(log.prefix)) continue;
      found.push(log);
      break;
    }
  }
  return found;
}

/** Whether the state of a key at the revision of the change is what the change made. */
function isChange({ type, kv }: WatchEvent, state: KeyValue | undefined): boolean {
  if (type !== 0) return state === undefined;
  return state !== undefined && state.mod_revision === kv.mod_revision && state.value.equals(kv.value);
}

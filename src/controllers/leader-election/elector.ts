/**
 * Elects one of several servers by a Lease. Candidates use only the time since they have observed
 * the latest change of the Lease, not its times, so clocks need not agree. Source:
 * `k8s.io/client-go@v0.36.0/tools/leaderelection/leaderelection.go`.
 */
import { type Clock, formatMicroTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { within } from "../../apimachinery/within.ts";
import { deepEqual } from "../../lib/json/values.ts";
import type { ElectionObserver, ElectionRecord, ElectionTimes, Lead, LeaseLock, StoredLease } from "./contract.ts";
import { Term } from "./term.ts";

interface ElectorOptions {
  readonly lock: LeaseLock;
  /** The name in metrics. */
  readonly name: string;
  /** `hostname_uuid`; no two candidates have the same. */
  readonly identity: string;
  readonly times: ElectionTimes;
  readonly clock: Clock;
  /** Returns a random number, at least 0 and less than 1. */
  readonly fraction: () => number;
  readonly logger: Logger;
  readonly observer: ElectionObserver;
  /** Whether another controller chooses the holder, among LeaseCandidates; this one only renews then. */
  readonly isCoordinated?: boolean;
  /** Whether a holder cannot be running any more, so that its lease need not expire. */
  readonly isGone?: (holder: string) => boolean;
  /** Reports that this server became leader, or stopped leading. */
  readonly report?: (lease: StoredLease, what: string) => Promise<void>;
  readonly lead: Lead;
}

/** Attempts of candidates are this part of the retry period later, at most. */
const jitter = 1.2;
/** The greatest value of leaseTransitions. */
const transitionsMax = 2 ** 31 - 1;
/** How much longer than a lease the work of a former leader may take to end. */
const stopToleranceMs = 20_000;

interface Attempt {
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  readonly round: number;
}

/** A leader's term and its work. */
interface Leadership {
  readonly term: Term;
  readonly stopWork: () => Promise<void>;
  cancelDeadline: () => void;
}

/** Acquires, renews and releases a lease, and runs the work of the leader meanwhile. */
export class LeaderElector {
  readonly #options: ElectorOptions;
  /** The latest state of the Lease, and when this server observed its record first. */
  #observed: { readonly lease: StoredLease; readonly at: number } | undefined;
  #leadership: Leadership | undefined;
  /** When a term ended whose work has not. */
  #stoppingSince: number | undefined;
  #stopping: Promise<void> = Promise.resolve();
  #attempt: Promise<void> = Promise.resolve();
  #cancelAttempt = (): void => {};
  #isClosed = false;
  /** Number of the latest attempt. Earlier ones, which came too late, write nothing. */
  #round = 0;

  constructor(options: ElectorOptions) {
    this.#options = options;
    options.observer.isLeader(options.name, false);
  }

  /** Begins with an attempt at once. */
  start(): void {
    this.#options.logger.info("Attempting to acquire leader lease", { lock: this.#options.lock.description });
    this.#attempt = this.#run();
  }

  /** Ends the work, then releases the lease. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#cancelAttempt();
    await this.#attempt;
    await this.#stopping;
    const leadership = this.#leadership;
    if (leadership === undefined) return;
    await leadership.stopWork();
    const isHeld = this.#options.clock.now() < leadership.term.endsAt;
    leadership.term.end("the server stops");
    await this.#stopping;
    if (isHeld) await this.#within(this.#release());
  }

  /** @returns why the server is not healthy; undefined if it is */
  problem(): string | undefined {
    const { clock, times, name } = this.#options;
    const since = this.#stoppingSince;
    if (since === undefined || clock.now() - since <= times.leaseDurationMs + stopToleranceMs) return undefined;
    return `failed election to renew leadership on lease ${name}`;
  }

  #runAfter(delayMs: number): void {
    if (this.#isClosed) return;
    this.#cancelAttempt = this.#options.clock.after(delayMs, () => {
      this.#attempt = this.#run();
    });
  }

  /** One attempt to acquire or to renew the lease, which plans the next. */
  async #run(): Promise<void> {
    const { clock, times, fraction } = this.#options;
    const { retryPeriodMs } = times;
    const leadership = this.#leadership;
    const at = clock.now();
    this.#round += 1;
    const lease = await this.#within(this.#acquireOrRenew({ at, round: this.#round }));
    if (leadership !== this.#leadership) return; // The term has ended, which has planned the next attempt.
    if (leadership !== undefined) {
      if (lease !== undefined) this.#renewed(leadership, lease, at);
      return this.#runAfter(retryPeriodMs);
    }
    if (lease === undefined || this.#isClosed) return this.#runAfter(retryPeriodMs * (1 + jitter * fraction()));
    this.#begin(lease, at);
    this.#runAfter(retryPeriodMs);
  }

  #begin(lease: StoredLease, at: number): void {
    const { lock, name, identity, times, clock, logger, observer, lead } = this.#options;
    const { renewDeadlineMs } = times;
    const ended = (reason: string): void => this.#ended(reason);
    const term = new Term({ lock, identity, now: clock.now, renewDeadlineMs, ended }, lease.revision, at);
    logger.info("Successfully acquired lease", { lock: lock.description });
    observer.isLeader(name, true);
    this.#report("became leader");
    // The work begins afterwards, so that it can end the term.
    const started = Promise.resolve().then(() => lead(term));
    let stopped: Promise<void> | undefined;
    const stopWork = (): Promise<void> => {
      stopped ??= started.then((stop) => stop());
      return stopped;
    };
    const leadership: Leadership = { term, stopWork, cancelDeadline: () => {} };
    this.#leadership = leadership;
    this.#renewed(leadership, lease, at);
  }

  #renewed(leadership: Leadership, { revision }: StoredLease, at: number): void {
    const { term } = leadership;
    term.renewed(revision, at);
    leadership.cancelDeadline();
    const leftMs = Math.max(0, term.endsAt - this.#options.clock.now());
    leadership.cancelDeadline = this.#options.clock.after(leftMs, () => term.end("not renewed in time"));
  }

  /** Ends the work of the term. The next attempt follows when it has ended. */
  #ended(reason: string): void {
    const { lock, name, logger, observer, clock, times } = this.#options;
    const { stopWork, cancelDeadline } = this.#leadership as Leadership;
    this.#leadership = undefined;
    cancelDeadline();
    this.#cancelAttempt();
    observer.isLeader(name, false);
    if (!this.#isClosed) logger.error("leaderelection lost", { lock: lock.description, reason });
    this.#report("stopped leading");
    this.#stoppingSince = clock.now();
    this.#stopping = stopWork().then(() => {
      this.#stoppingSince = undefined;
      this.#runAfter(times.retryPeriodMs);
    });
  }

  /** Creates Events, whose failure has no consequences. */
  #report(what: string): void {
    const { report, logger } = this.#options;
    if (report === undefined || this.#observed === undefined) return;
    report(this.#observed.lease, what).catch((error: unknown) =>
      logger.warn("Failed to create the Event of a leader election", { error: String(error) }),
    );
  }

  /** @returns the lease that this server holds; undefined when it does not */
  async #acquireOrRenew(attempt: Attempt): Promise<StoredLease | undefined> {
    const { lock, logger } = this.#options;
    try {
      if (this.#options.isCoordinated === true) return await this.#renewChosen(attempt);
      return (await this.#renewObserved(attempt)) ?? (await this.#acquireStored(attempt));
    } catch (error) {
      logger.warn("Failed to update lock", { lock: lock.description, error: String(error) });
      return undefined;
    }
  }

  /** Renews the lease of the current term without reading it. @returns undefined when that fails */
  async #renewObserved({ at }: Attempt): Promise<StoredLease | undefined> {
    const { lock, identity } = this.#options;
    const { lease } = this.#observed ?? {};
    if (this.#leadership === undefined || lease?.record.holderIdentity !== identity) return undefined;
    try {
      return this.#held(await lock.update(this.#record(at, lease.record), lease.revision), at);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return undefined; // Another client has changed the Lease.
    }
  }

  async #acquireStored({ at, round }: Attempt): Promise<StoredLease | undefined> {
    const { lock, identity, isGone, name, observer } = this.#options;
    const lease = await lock.read();
    if (round !== this.#round) return undefined;
    if (lease === undefined) return this.#held(await lock.create(this.#record(at, undefined)), at);
    this.#observe(lease, at);
    const { holderIdentity: holder } = lease.record;
    if (holder !== "" && holder !== identity && !this.#hasExpired(at) && isGone?.(holder) !== true) {
      return this.#lose("the lease has another holder");
    }
    if (holder === identity) observer.slowPath(name);
    return this.#held(await lock.update(this.#record(at, lease.record), lease.revision), at);
  }

  /** Renews a lease that was given to this server, until another one is preferred. */
  async #renewChosen({ at, round }: Attempt): Promise<StoredLease | undefined> {
    const { lock, identity, name, observer } = this.#options;
    const lease = await lock.read();
    if (round !== this.#round) return undefined;
    if (lease === undefined) return this.#lose("the lease was deleted");
    this.#observe(lease, at);
    const { holderIdentity, preferredHolder, strategy } = lease.record;
    if (holderIdentity !== identity) return this.#lose("the lease has another holder");
    if (preferredHolder !== "") return this.#lose("another holder is preferred");
    if (this.#hasExpired(at)) return undefined;
    observer.slowPath(name);
    return this.#held(await lock.update({ ...this.#record(at, lease.record), strategy }, lease.revision), at);
  }

  #lose(reason: string): undefined {
    this.#leadership?.term.end(reason);
  }

  /** @param held what was written by this server */
  #held(held: StoredLease, at: number): StoredLease {
    this.#observed = { lease: held, at };
    return held;
  }

  #observe(lease: StoredLease, at: number): void {
    const { lease: before, at: since } = this.#observed ?? {};
    const isSame = before !== undefined && deepEqual(before.record, lease.record);
    this.#observed = { lease, at: isSame && since !== undefined ? since : at };
  }

  #hasExpired(now: number): boolean {
    if (this.#observed === undefined) return true;
    const { lease, at } = this.#observed;
    return at + lease.record.leaseDurationSeconds * 1000 <= now;
  }

  /** @param before undefined for a new Lease */
  #record(at: number, before: ElectionRecord | undefined): ElectionRecord {
    const { identity, times } = this.#options;
    const now = formatMicroTime(at);
    const isHolder = before?.holderIdentity === identity;
    const transitions = before === undefined ? 0 : before.leaseTransitions + (isHolder ? 0 : 1);
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.floor(times.leaseDurationMs / 1000),
      acquireTime: isHolder ? before.acquireTime : now,
      renewTime: now,
      leaseTransitions: Math.min(transitions, transitionsMax),
      strategy: "",
      preferredHolder: "",
    };
  }

  /** Leaves a Lease without a holder, which others acquire at once. */
  async #release(): Promise<void> {
    const { lock, identity, clock, logger } = this.#options;
    try {
      const lease = await lock.read();
      if (lease?.record.holderIdentity !== identity) return;
      const now = formatMicroTime(clock.now());
      const record = { ...lease.record, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
      await lock.update({ ...record, strategy: "", preferredHolder: "" }, lease.revision);
    } catch (error) {
      logger.error("Failed to release lease", { lock: lock.description, error: String(error) });
    }
  }

  /** Upstream's timeout of requests. @returns undefined when it passes first */
  #within<T>(work: Promise<T>): Promise<T | undefined> {
    const { clock, times } = this.#options;
    return within(clock, Math.max(1000, times.renewDeadlineMs / 2), work, () => {
      this.#round += 1;
    });
  }
}

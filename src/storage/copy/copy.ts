/**
 * Copies the objects of a store to another one, while servers may go on writing to the source. Keys
 * are passed in order, each page at the newest state, and the changes since the beginning are applied
 * in order: a page before any change that is newer than the page. After both, the target has the
 * state of the source.
 *
 * **Invariant:** the revision of an object in the target is higher than each revision that the source
 * has given to it, and the target's is higher than the source's at the cut-over.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../apimachinery/clock.ts";
import { RevisionCompacted } from "../contract.ts";
import type { ChangeFeed, CopiedChange, CopyMarker, CopySource, CopyTarget, SourcePage } from "./contract.ts";
import { differencesOf } from "./differences.ts";
import { type Verification, verifyCopy } from "./verify.ts";

export interface CopyOptions {
  readonly source: CopySource;
  readonly target: CopyTarget;
  readonly clock: Clock;
  /** Objects that cannot be read are left out, instead of ending the copy. */
  readonly skipDamaged: boolean;
  /** Follows the source until {@link CopyOptions.cutOver}. */
  readonly follow: boolean;
  readonly cutOver?: CutOver;
  readonly report: CopyReport;
}

/** The request to end a copy that follows its source. */
export interface CutOver {
  readonly isRequested: boolean;
  /** Resolves when it is requested. */
  wait(): Promise<void>;
  /** Waits for another request. */
  reset(): void;
}

/** Receives the progress of a copy. */
export interface CopyReport {
  raising(done: number, of: number): void;
  passed(objects: number, of: number): void;
  /** The copy starts again with comparisons, because changes were compacted before they were read. */
  restarted(): void;
  /** @param behind revisions of the source that are not applied */
  following(behind: number): void;
  verifying(objects: number, of: number): void;
  /** The source was written to after the cut-over. */
  stillWritten(): void;
}

export interface CopyResult extends Verification {
  /** The state of the source that was copied. */
  readonly sourceRevision: number;
  /** The revision at which the target continues. */
  readonly targetRevision: number;
  /** Whether the source has changed since. */
  readonly isOutdated: boolean;
}

/** The marker is written after so many objects. */
const objectsPerMark = 10_000;
const followMs = 1000;
/** Keys of differences that an error lists. */
const listedMax = 10;

type DamagedKey = Verification["damaged"][number];

/** The copy is not finished: objects differ, or cannot be read. */
export class CopyFailed extends Error {}

/**
 * Copies, verifies, and ends the copy.
 * @throws CopyFailed when objects cannot be read, or differ at the end
 * @throws StorageUnavailable · ValueTooLarge · DamagedStore; the copy can be continued
 */
export function copyStore(options: CopyOptions): Promise<CopyResult> {
  return runCopy(options, (copy, feed) => copy.end(feed));
}

/**
 * Copies one state, without the end: a later copy of the same source compares all objects, and
 * writes those that have changed.
 * @throws as {@link copyStore}
 */
export function copyState(options: CopyOptions): Promise<void> {
  return runCopy(options, async () => {});
}

async function runCopy<Result>(
  options: CopyOptions,
  end: (copy: Copy, feed: ChangeFeed) => Promise<Result>,
): Promise<Result> {
  const { source, target, report } = options;
  const copy = new Copy(options, target.marker ?? (await startOf(source)));
  for (;;) {
    try {
      return await copy.run((feed) => end(copy, feed));
    } catch (error) {
      if (!(error instanceof RevisionCompacted)) throw error;
      report.restarted();
      copy.restart(await startOf(source));
    }
  }
}

async function startOf(source: CopySource): Promise<CopyMarker> {
  return { source: source.id, applied: await source.current(), complete: false };
}

class Copy {
  readonly #options: CopyOptions;
  #marker: CopyMarker;
  #objects = 0;

  constructor(options: CopyOptions, marker: CopyMarker) {
    this.#options = options;
    this.#marker = marker;
  }

  restart(marker: CopyMarker): void {
    this.#marker = marker;
    this.#objects = 0;
  }

  /** @throws RevisionCompacted when the copy must be restarted */
  async run<Result>(end: (feed: ChangeFeed) => Promise<Result>): Promise<Result> {
    const { source, target, report } = this.#options;
    await target.mark(this.#marker);
    await target.raise(await source.current(), report.raising);
    const feed = source.follow(this.#marker.applied);
    try {
      await feed.reach(this.#marker.applied);
      await this.#passAll(feed);
      return await end(feed);
    } finally {
      feed.close();
    }
  }

  async #passAll(feed: ChangeFeed): Promise<void> {
    if (this.#marker.complete) return;
    const { source, skipDamaged, report } = this.#options;
    const total = await source.count();
    const damaged: DamagedKey[] = [];
    let next: Promise<SourcePage> = source.page(this.#marker.passed);
    let lastMark = 0;
    for (let after = this.#marker.passed; ; ) {
      const page = await next;
      // The next page is read while this one is written. Changes after it wait until it is written.
      const { until } = page;
      const ahead = until === undefined ? undefined : source.page(until);
      ahead?.catch(() => {});
      for (const { key, damage } of page.entries) {
        if (damage !== undefined) damaged.push({ key, problem: damage });
      }
      await this.#writePage(page, after);
      this.#objects += page.entries.length;
      report.passed(this.#objects, Math.max(total, this.#objects));
      const nextPage = await ahead;
      await this.#apply(feed, nextPage?.revision ?? feed.received);
      if (nextPage === undefined) break;
      this.#marker = { ...this.#marker, passed: until as string };
      after = until;
      next = Promise.resolve(nextPage);
      if (this.#objects - lastMark < objectsPerMark) continue;
      lastMark = this.#objects;
      await this.#options.target.mark(this.#marker);
    }
    if (damaged.length > 0 && !skipDamaged) await this.#failDamaged(damaged);
    this.#marker = { ...this.#marker, complete: true };
    await this.#options.target.mark(this.#marker);
  }

  async #failDamaged(damaged: readonly DamagedKey[]): Promise<never> {
    await this.#markUnpassed();
    const lines = damaged.map(({ key, problem }) => `\n  ${key}: ${problem}`);
    throw new CopyFailed(`${damaged.length} objects cannot be read:${lines.join("")}`);
  }

  /** Lets the next run compare all keys again. */
  async #markUnpassed(): Promise<void> {
    const { source, applied } = this.#marker;
    await this.#options.target.mark({ source, applied, complete: false });
  }

  async #writePage(page: SourcePage, after: string | undefined): Promise<void> {
    const { target, clock } = this.#options;
    await this.#raise(page.revision);
    let changes: CopiedChange[] = [];
    for await (const change of differencesOf({ page, after, target, now: clock.now() })) {
      changes.push(change);
      if (changes.length < changesMax) continue;
      await target.write(changes);
      changes = [];
    }
    await target.write(changes);
  }

  /** Applies received changes up to the revision. */
  async #apply(feed: ChangeFeed, until: number): Promise<void> {
    const { target, clock } = this.#options;
    for (;;) {
      const received = Math.min(until, feed.received);
      const taken = await feed.take(until);
      if (taken.length === 0) {
        if (!feed.hasChanges && received > this.#marker.applied) this.#marker = { ...this.#marker, applied: received };
        return;
      }
      const applied = taken.at(-1)?.revision as number;
      await this.#raise(applied);
      const now = clock.now();
      const latest = new Map(taken.map((change) => [change.key, change]));
      await target.write(
        [...latest.values()].map((change) =>
          (change.expiresAt ?? now + 1) > now ? change : { ...change, value: null },
        ),
      );
      this.#marker = { ...this.#marker, applied };
    }
  }

  async #raise(revision: number): Promise<void> {
    const { target, report } = this.#options;
    if (target.revision < revision) await target.raise(revision, report.raising);
  }

  /** Follows the source, verifies, and ends the copy. */
  async end(feed: ChangeFeed): Promise<CopyResult> {
    const { source, target, report, follow, cutOver } = this.#options;
    for (;;) {
      if (follow) await this.#follow(feed);
      const sourceRevision = await this.#catchUp(feed);
      const verification = await this.#verify(feed, sourceRevision);
      if (verification === undefined) continue;
      const newest = await source.current();
      await feed.reach(newest);
      const isOutdated = feed.hasChanges;
      if (isOutdated && follow) {
        report.stillWritten();
        cutOver?.reset();
        continue;
      }
      // A watch of etcd that resumes at a revision needs the one after it.
      await this.#raise(newest + 2);
      return { ...verification, sourceRevision, isOutdated, targetRevision: await target.finish() };
    }
  }

  async #follow(feed: ChangeFeed): Promise<void> {
    const { source, report, cutOver, target } = this.#options;
    for (let markedAt = 0; cutOver?.isRequested !== true; ) {
      await this.#apply(feed, Number.POSITIVE_INFINITY);
      const behind = Math.max(0, (await source.current()) - this.#marker.applied);
      report.following(behind);
      if (this.#marker.applied > markedAt) await target.mark(this.#marker);
      markedAt = this.#marker.applied;
      const timer = new AbortController();
      const pause = sleep(followMs, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([pause, cutOver?.wait()]);
      timer.abort();
    }
  }

  /** @returns the state of the source that the target has */
  async #catchUp(feed: ChangeFeed): Promise<number> {
    const newest = await this.#options.source.current();
    while (this.#marker.applied < newest) {
      await feed.reach(newest);
      await this.#apply(feed, newest);
    }
    return this.#marker.applied;
  }

  /**
   * @returns undefined when the source was written to, and the state was compacted meanwhile
   * @throws CopyFailed
   */
  async #verify(feed: ChangeFeed, revision: number): Promise<Verification | undefined> {
    const { source, target, clock, report, skipDamaged } = this.#options;
    const verification = await verifyCopy({ source, target, clock, feed, revision, progress: report.verifying });
    if (verification === undefined) return undefined;
    const { different, differentCount, damaged } = verification;
    if (differentCount > 0) {
      await this.#markUnpassed();
      throw new CopyFailed(
        `${differentCount} objects of the copy differ from the source: ${different.slice(0, listedMax).join(", ")}; run the command again to compare all of them`,
      );
    }
    if (damaged.length > 0 && !skipDamaged) await this.#failDamaged(damaged);
    return verification;
  }
}

/** Differences that are written together. */
const changesMax = 4000;

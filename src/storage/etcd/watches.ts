/** Keeps watches open: over several streams, and again after a stream has failed. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { EtcdClient } from "./api/client.ts";
import type { KeyRange } from "./keys.ts";
import { SharedWatches } from "./shared-watches.ts";
import { type Watch, WatchStream } from "./watch-stream.ts";

export interface WatchesOptions {
  readonly client: Pick<EtcdClient, "watch">;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  /**
   * Called before watches are opened again.
   * @throws StorageUnavailable when the cluster cannot be read; called again later
   */
  checkCluster(): Promise<void>;
  /** Whether members answer progress requests after all events; otherwise watches share one. */
  answersProgress(): boolean;
  /** The keys that every user of etcd can read, if the user cannot read all. */
  readonly allowed: KeyRange;
}

/** Delays before watches are opened again. */
const reopenMs = { min: 50, max: 2_000 };
/** A progress request that the member dropped is sent again after this time. */
const progressMs = 50;
/** Requests for one revision end when no subscriber can be waiting for it. */
const progressTriesMax = 100;

export class Watches {
  readonly #options: WatchesOptions;
  readonly #streams = new Set<WatchStream>();
  readonly #shared: SharedWatches;
  /** Watches of failed streams. */
  readonly #waiting = new Set<Watch>();
  #cancelReopening: (() => void) | undefined;
  #delayMs = reopenMs.min;
  /** The highest revision that was requested, and the requests left for it. */
  #goal = 0;
  #tries = 0;
  #cancelProgress: (() => void) | undefined;
  #closed = false;

  constructor(options: WatchesOptions) {
    this.#options = options;
    this.#shared = new SharedWatches({
      open: (watch) => this.#add(watch),
      close: (watch) => this.#remove(watch),
      goal: () => this.#goal,
      allowed: options.allowed,
    });
  }

  /** Watches the changes after `delivered`. */
  add(watch: Watch): void {
    if (this.#options.answersProgress()) this.#add(watch);
    else this.#shared.add(watch);
  }

  remove(watch: Watch): void {
    if (!this.#shared.remove(watch)) this.#remove(watch);
  }

  /** Whether the watch receives changes as they happen. */
  isConnected(watch: Watch): boolean {
    return !this.#waiting.has(this.#shared.groupOf(watch) ?? watch);
  }

  /** Lets all watches reach the revision soon, also those without changes. */
  progressTo(revision: number): void {
    if (revision <= this.#goal && this.#cancelProgress !== undefined) return;
    this.#goal = Math.max(this.#goal, revision);
    this.#tries = progressTriesMax;
    this.#shared.reportGoal();
    this.#requestProgress();
  }

  /** Forgets the requested progress, because the cluster's newest revision is lower. */
  startOver(revision: number): void {
    this.#goal = revision;
  }

  close(): void {
    this.#closed = true;
    this.#cancelReopening?.();
    this.#cancelProgress?.();
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
    this.#waiting.clear();
  }

  /**
   * A watch that starts in the past gets a stream of its own, because a stream reports progress only
   * when all its watches have caught up.
   */
  #add(watch: Watch): void {
    if (this.#waiting.size > 0) this.#waiting.add(watch);
    else this.#open([watch], watch.delivered < this.#goal ? undefined : this.#openStream());
  }

  #remove(watch: Watch): void {
    this.#waiting.delete(watch);
    for (const stream of this.#streams) {
      stream.remove(watch);
      if (!stream.isEmpty) continue;
      this.#streams.delete(stream);
      stream.close();
    }
  }

  #openStream(): WatchStream | undefined {
    for (const stream of this.#streams) if (stream.isOpenForWatches) return stream;
    return undefined;
  }

  #open(watches: readonly Watch[], stream = this.#newStream()): void {
    for (const watch of watches) stream.add(watch);
    this.progressTo(this.#goal);
  }

  #newStream(): WatchStream {
    const stream = new WatchStream({
      client: this.#options.client,
      answersProgress: this.#options.answersProgress,
      alive: () => {
        this.#delayMs = reopenMs.min;
      },
      ended: (ended, left, error) => this.#lost(ended, left, error),
    });
    this.#streams.add(stream);
    return stream;
  }

  #lost(stream: WatchStream, watches: readonly Watch[], error: Error): void {
    this.#streams.delete(stream);
    if (this.#closed) return;
    const isNarrowed = error.message.includes("permission denied") && this.#shared.narrow();
    for (const watch of watches) this.#waiting.add(watch);
    if (this.#waiting.size === 0 || this.#cancelReopening !== undefined) return;
    if (!isNarrowed)
      this.#options.logger?.warn("Lost the watch stream of etcd", { watches: watches.length, error: error.message });
    this.#reopenLater();
  }

  #reopenLater(): void {
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, reopenMs.max);
    this.#cancelReopening = this.#options.clock.after(delayMs, () => this.#reopen());
  }

  async #reopen(): Promise<void> {
    try {
      await this.#options.checkCluster();
    } catch {
      // `checkCluster` is called until it succeeds; requests report the error meanwhile.
      if (!this.#closed) this.#reopenLater();
      return;
    }
    this.#cancelReopening = undefined;
    if (this.#closed || this.#waiting.size === 0) return;
    const watches = [...this.#waiting];
    this.#waiting.clear();
    this.#open(watches);
  }

  #requestProgress(): void {
    this.#cancelProgress?.();
    this.#cancelProgress = undefined;
    const goal = this.#goal;
    const behind = [...this.#streams].filter((stream) => {
      for (const { delivered } of stream.watches()) if (delivered < goal) return true;
      return false;
    });
    if ((behind.length === 0 && this.#waiting.size === 0) || this.#tries-- <= 0) return;
    for (const stream of behind) stream.requestProgress();
    this.#cancelProgress = this.#options.clock.after(progressMs, () => this.#requestProgress());
  }
}

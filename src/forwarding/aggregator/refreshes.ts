/** Repeats work for keys: again after an interval, and sooner after failures. */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { type Logger, stackOf } from "../../apimachinery/logger.ts";

/** What a run found. */
export type RefreshResult = "current" | "failed" | "gone";

interface RefreshOptions {
  readonly clock: Clock;
  /** Does the work for one key. A rejection is an unexpected error, and counts as a failure. */
  run(key: string): Promise<RefreshResult>;
  readonly logger: Logger;
  /** Keys that run at the same time. */
  readonly concurrency: number;
  /** The time between the end of a successful run and the next run. */
  readonly intervalMs: number;
  /** The time after the first failure; doubled for each further one. */
  readonly firstRetryMs: number;
  readonly retryMsMax: number;
}

/** The running repetitions. */
export interface Refreshes {
  /**
   * Runs a key as soon as the concurrency permits, or once more if it runs now, and forgets its
   * failures. Afterwards it is repeated until a run finds it gone.
   */
  add(key: string, delayMs?: number): void;
  /** Starts no more runs; resolves when the current ones have ended. */
  close(): Promise<void>;
}

interface Item {
  failures: number;
  state: "delayed" | "ready" | "running" | "running, then ready";
  cancelDelay: (() => void) | undefined;
}

/** Starts without keys, which need neither timers nor memory. */
export function openRefreshes(options: RefreshOptions): Refreshes {
  return new RefreshQueue(options);
}

class RefreshQueue implements Refreshes {
  readonly #options: RefreshOptions;
  readonly #items = new Map<string, Item>();
  readonly #ready: string[] = [];
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  add(key: string, delayMs = 0): void {
    if (this.#closed) return;
    const item = this.#items.get(key);
    if (item === undefined) {
      const created: Item = { failures: 0, state: "delayed", cancelDelay: undefined };
      this.#items.set(key, created);
      return this.#delay(key, created, delayMs);
    }
    item.failures = 0;
    if (item.state === "delayed") this.#delay(key, item, delayMs);
    else if (item.state === "running") item.state = "running, then ready";
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ready.length = 0;
    for (const item of this.#items.values()) item.cancelDelay?.();
    await Promise.all(this.#running);
  }

  #delay(key: string, item: Item, delayMs: number): void {
    item.cancelDelay?.();
    item.cancelDelay = undefined;
    item.state = "delayed";
    if (delayMs === 0) return this.#enqueue(key, item);
    item.cancelDelay = realClock(this.#options.clock).after(delayMs, () => this.#enqueue(key, item));
  }

  #enqueue(key: string, item: Item): void {
    item.cancelDelay = undefined;
    item.state = "ready";
    this.#ready.push(key);
    this.#startReady();
  }

  #startReady(): void {
    while (!this.#closed && this.#running.size < this.#options.concurrency) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      const run = this.#run(key, this.#items.get(key) as Item).finally(() => {
        this.#running.delete(run);
        this.#startReady();
      });
      this.#running.add(run);
    }
  }

  async #run(key: string, item: Item): Promise<void> {
    item.state = "running";
    const result = await this.#tryRun(key);
    if (this.#closed) return;
    item.failures = result === "failed" ? item.failures + 1 : 0;
    if ((item.state as Item["state"]) === "running, then ready") return this.#enqueue(key, item);
    if (result === "gone") return void this.#items.delete(key);
    this.#delay(key, item, this.#nextDelayMs(item));
  }

  async #tryRun(key: string): Promise<RefreshResult> {
    try {
      return await this.#options.run(key);
    } catch (error) {
      this.#options.logger.error("A refresh failed", { key, error: stackOf(error) });
      return "failed";
    }
  }

  #nextDelayMs({ failures }: Item): number {
    const { intervalMs, firstRetryMs, retryMsMax } = this.#options;
    return failures === 0 ? intervalMs : Math.min(firstRetryMs * 2 ** (failures - 1), retryMsMax);
  }
}

/**
 * A queue of keys to reconcile. A key is reconciled one at a time, and retried with exponential
 * backoff.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { QueueObserver } from "./contract.ts";

interface WorkQueueOptions {
  readonly clock: Clock;
  /** Reconciles one key. @returns whether it is done; false or a rejection causes a retry */
  reconcile(key: string): Promise<boolean>;
  /** Called for every rejection. */
  failed(key: string, error: unknown): void;
  /** Keys that are reconciled concurrently. */
  readonly concurrency: number;
  /** Maximum keys that wait, run or are to be retried; `add` rejects others. */
  readonly keysMax: number;
  /** Delay of the first retry, 50 when unset; doubled for each further retry. */
  readonly firstDelayMs?: number;
  /** Longest delay of a retry, 5000 when unset. */
  readonly delayMaxMs?: number;
  readonly observer?: QueueObserver | undefined;
}

/** A running queue. */
export interface WorkQueue {
  /**
   * Enqueues the key, or, while it runs, requests another run.
   * @returns false when the queue is full or stopped
   */
  add(key: string): boolean;
  /** Discards waiting keys; resolves when running reconciliations have ended. */
  stop(): Promise<void>;
}

/**
 * Reconciliations started per event loop turn. Those that do not wait would block the event loop
 * otherwise.
 */
const startsPerTurn = 100;
/** Keys taken from the array before it is compacted. */
const compactAfter = 10_000;

interface Item {
  /** Consecutive runs that were not done. */
  failures: number;
  running: boolean;
  /** Whether it was added again while it runs. */
  again: boolean;
  cancelDelay: (() => void) | undefined;
  /** Reports the start to the observer. */
  begin: (() => () => void) | undefined;
}

/** Creates a queue. */
export function openWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { firstDelayMs = 50, delayMaxMs = 5_000, observer } = options;
  const items = new Map<string, Item>();
  let ready: string[] = [];
  /** Number of keys taken from the beginning of `ready`. */
  let taken = 0;
  let running = 0;
  let started = 0;
  let turn: NodeJS.Immediate | undefined;
  let stopped: (() => void) | undefined;

  const enqueue = (key: string, item: Item): void => {
    item.cancelDelay?.();
    item.cancelDelay = undefined;
    item.begin = observer?.added();
    ready.push(key);
    next();
  };
  const next = (): void => {
    while (stopped === undefined && running < options.concurrency && started < startsPerTurn) {
      const key = take();
      if (key === undefined) return;
      void run(key, items.get(key) as Item);
    }
  };
  const endTurn = (): void => {
    turn = undefined;
    started = 0;
    next();
  };
  /** Takes the next key. Array.shift would move all remaining keys. */
  const take = (): string | undefined => {
    if (taken === ready.length) return undefined;
    const key = ready[taken++];
    if (taken === ready.length || taken === compactAfter) {
      ready = ready.slice(taken);
      taken = 0;
    }
    return key;
  };
  const run = async (key: string, item: Item): Promise<void> => {
    running += 1;
    started += 1;
    turn ??= setImmediate(endTurn);
    item.running = true;
    item.again = false;
    const ended = item.begin?.();
    const done = await tryReconcile(options, key);
    ended?.();
    item.running = false;
    running -= 1;
    finish(key, item, done);
    if (running === 0) stopped?.();
    next();
  };
  const finish = (key: string, item: Item, done: boolean): void => {
    if (stopped !== undefined) return;
    if (item.again) return enqueue(key, item);
    if (done) return void items.delete(key);
    observer?.retried();
    const delayMs = Math.min(firstDelayMs * 2 ** item.failures, delayMaxMs);
    item.failures += 1;
    item.cancelDelay = options.clock.after(delayMs, () => {
      item.cancelDelay = undefined;
      enqueue(key, item);
    });
  };

  return {
    add(key) {
      if (stopped !== undefined) return false;
      const existing = items.get(key);
      if (existing === undefined) {
        if (items.size >= options.keysMax) return false;
        const item: Item = { failures: 0, running: false, again: false, cancelDelay: undefined, begin: undefined };
        items.set(key, item);
        enqueue(key, item);
        return true;
      }
      if (existing.running) existing.again = true;
      else if (existing.cancelDelay !== undefined) enqueue(key, existing);
      return true;
    },
    stop() {
      for (const item of items.values()) item.cancelDelay?.();
      ready = [];
      taken = 0;
      if (turn !== undefined) clearImmediate(turn);
      return new Promise((resolve) => {
        stopped = resolve;
        if (running === 0) resolve();
      });
    },
  };
}

async function tryReconcile({ reconcile, failed }: WorkQueueOptions, key: string): Promise<boolean> {
  try {
    return await reconcile(key);
  } catch (error) {
    failed(key, error); // Any error causes a retry.
    return false;
  }
}

/** Keys to be reconciled: each at most once at a time, again after a growing delay when it is not done yet. */
import type { Clock } from "../apimachinery/clock.ts";
import type { QueueObserver } from "./contract.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Brings one key's state forward. @returns whether there is nothing left to do; a rejection counts as something left */
  reconcile(key: string): Promise<boolean>;
  /** Told of every rejection. */
  failed(key: string, error: unknown): void;
  /** Keys worked on at once. */
  readonly concurrency: number;
  /** Keys known at once; more are refused, and whoever adds keys adds them again later. */
  readonly keysMax: number;
  /** Until a key is looked at again whose first look left something to do, 50; twice as long each time. */
  readonly firstDelayMs?: number;
  /** At the most, 5000. */
  readonly delayMaxMs?: number;
  readonly observer?: QueueObserver | undefined;
}

export interface WorkQueue {
  /** Asks for the key to be looked at, now, or again after the look that is under way. @returns false when the queue is full or stopped */
  add(key: string): boolean;
  /** Resolves when nothing is under way; keys that wait are forgotten. */
  stop(): Promise<void>;
}

/** Looks begun in one turn of the event loop: those that wait for nothing would follow each other without letting others run. */
const looksInTurn = 100;
/** Keys taken before the others are moved up. */
const compactAfter = 10_000;

interface Item {
  /** Looks that left something to do, in a row. */
  failures: number;
  running: boolean;
  /** Asked for again while it runs. */
  again: boolean;
  cancelDelay: (() => void) | undefined;
  /** Told when its turn has come. */
  begin: (() => () => void) | undefined;
}

export function openWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { firstDelayMs = 50, delayMaxMs = 5_000, observer } = options;
  const items = new Map<string, Item>();
  let ready: string[] = [];
  /** Those before have been taken. */
  let taken = 0;
  let running = 0;
  let begun = 0;
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
    while (stopped === undefined && running < options.concurrency && begun < looksInTurn) {
      const key = take();
      if (key === undefined) return;
      void run(key, items.get(key) as Item);
    }
  };
  const endTurn = (): void => {
    turn = undefined;
    begun = 0;
    next();
  };
  /** An array that is shifted moves all that follow: a queue of many would be slow. */
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
    begun += 1;
    turn ??= setImmediate(endTurn);
    item.running = true;
    item.again = false;
    const ended = item.begin?.();
    const done = await look(options, key);
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
      const known = items.get(key);
      if (known === undefined) {
        if (items.size >= options.keysMax) return false;
        const item: Item = { failures: 0, running: false, again: false, cancelDelay: undefined, begin: undefined };
        items.set(key, item);
        enqueue(key, item);
        return true;
      }
      if (known.running) known.again = true;
      else if (known.cancelDelay !== undefined) enqueue(key, known);
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

async function look({ reconcile, failed }: WorkQueueOptions, key: string): Promise<boolean> {
  try {
    return await reconcile(key);
  } catch (error) {
    failed(key, error); // Whatever it was, the key is looked at again.
    return false;
  }
}

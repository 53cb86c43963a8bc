/**
 * A queue of keys to reconcile. A key is reconciled one at a time, and retried with exponential
 * backoff.
 */
import { realClock } from "../apimachinery/clock.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { QueueObserver } from "./contract.ts";

/** The parts of the registry that a queue uses. */
type QueueRegistry = Pick<RegistryContext, "clock" | "decide" | "decision">;

interface WorkQueueOptions<Registry extends QueueRegistry> {
  readonly registry: Registry;
  /**
   * Reconciles one key.
   * @param registry for all writes of this run: they fail when the state has been replaced since its start
   * @returns whether it is done; false or a rejection causes a retry
   */
  reconcile(key: string, registry: Registry): Promise<boolean>;
  /** Called for every rejection, unless the state was replaced meanwhile: then the key is reconciled again at once. */
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
  /** Resolves when no key waits or runs; keys that are retried later do not count. */
  idle(): Promise<void>;
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
/** Retries that a virtual clock waits for. Further ones mean that the key waits for something else. */
const awaitedRetries = 3;

interface Item {
  /** Consecutive runs that were not done. */
  failures: number;
  running: boolean;
  /** Whether it was added again while it runs. */
  again: boolean;
  cancelDelay: (() => void) | undefined;
  /** Reports the start to the observer. */
  begin: (() => () => void) | undefined;
  /** Reports to the clock that the work has ended. */
  endWork: (() => void) | undefined;
}

/** Creates a queue. */
export function openWorkQueue<Registry extends QueueRegistry>(options: WorkQueueOptions<Registry>): WorkQueue {
  return new KeyQueue(options);
}

class KeyQueue<Registry extends QueueRegistry> implements WorkQueue {
  readonly #options: WorkQueueOptions<Registry>;
  /** The keys that wait, run or are to be retried. */
  readonly #items = new Map<string, Item>();
  readonly #ready = new ReadyKeys();
  #running = 0;
  /** Reconciliations started in this event loop turn. */
  #started = 0;
  #turn: NodeJS.Immediate | undefined;
  /** Set when the queue is stopped; resolves the promise of `stop`. */
  #stopped: (() => void) | undefined;
  /** Resolve the promises of `idle`. */
  #idleWaiters: (() => void)[] = [];

  constructor(options: WorkQueueOptions<Registry>) {
    this.#options = options;
  }

  add(key: string): boolean {
    if (this.#stopped !== undefined) return false;
    const existing = this.#items.get(key);
    if (existing === undefined) return this.#addNew(key);
    if (existing.running) existing.again = true;
    else if (existing.cancelDelay !== undefined) this.#enqueue(key, existing);
    return true;
  }

  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => void this.#idleWaiters.push(resolve));
  }

  get #isIdle(): boolean {
    return this.#running === 0 && this.#ready.isEmpty;
  }

  stop(): Promise<void> {
    for (const item of this.#items.values()) {
      item.cancelDelay?.();
      if (!item.running) item.endWork?.();
    }
    this.#ready.clear();
    if (this.#turn !== undefined) clearImmediate(this.#turn);
    return new Promise((resolve) => {
      this.#stopped = resolve;
      for (const wake of this.#idleWaiters.splice(0)) wake();
      if (this.#running === 0) resolve();
    });
  }

  #addNew(key: string): boolean {
    if (this.#items.size >= this.#options.keysMax) return false;
    const item: Item = {
      failures: 0,
      running: false,
      again: false,
      cancelDelay: undefined,
      begin: undefined,
      endWork: undefined,
    };
    this.#items.set(key, item);
    this.#enqueue(key, item);
    return true;
  }

  #enqueue(key: string, item: Item): void {
    item.cancelDelay?.();
    item.cancelDelay = undefined;
    item.begin = this.#options.observer?.added();
    item.endWork ??= this.#options.registry.clock.beginWork?.();
    this.#ready.push(key);
    this.#startInNextTurn(); // The write that it reacts to is answered first.
  }

  #startInNextTurn(): void {
    this.#turn ??= setImmediate(() => this.#endTurn());
  }

  /** Starts as many reconciliations as the limits permit. */
  #startReady(): void {
    const { concurrency } = this.#options;
    while (this.#stopped === undefined && this.#running < concurrency && this.#started < startsPerTurn) {
      const key = this.#ready.take();
      if (key === undefined) return;
      void this.#run(key, this.#items.get(key) as Item);
    }
  }

  #endTurn(): void {
    this.#turn = undefined;
    this.#started = 0;
    this.#startReady();
  }

  async #run(key: string, item: Item): Promise<void> {
    this.#running += 1;
    this.#started += 1;
    this.#startInNextTurn();
    item.running = true;
    item.again = false;
    const ended = item.begin?.();
    const { isDone, isCurrent } = await tryReconcile(this.#options, key);
    item.again ||= !isCurrent;
    ended?.();
    item.running = false;
    this.#running -= 1;
    this.#finish(key, item, isDone);
    if (this.#running === 0) this.#stopped?.();
    this.#startReady();
    if (!this.#isIdle) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Removes the key, or enqueues it again, immediately or after a delay. */
  #finish(key: string, item: Item, done: boolean): void {
    if (item.again && this.#stopped === undefined) return this.#enqueue(key, item);
    if (done || this.#stopped !== undefined || item.failures >= awaitedRetries) {
      item.endWork?.();
      item.endWork = undefined;
    }
    if (this.#stopped !== undefined) return;
    if (done) return void this.#items.delete(key);
    const { registry, observer, firstDelayMs = 50, delayMaxMs = 5_000 } = this.#options;
    observer?.retried();
    const delayMs = Math.min(firstDelayMs * 2 ** item.failures, delayMaxMs);
    item.failures += 1;
    item.cancelDelay = realClock(registry.clock).after(delayMs, () => {
      item.cancelDelay = undefined;
      this.#enqueue(key, item);
    });
  }
}

/** Keys in the order of their addition. Array.shift would move all remaining keys. */
class ReadyKeys {
  #keys: string[] = [];
  /** Number of keys taken from the beginning of the array. */
  #taken = 0;

  push(key: string): void {
    this.#keys.push(key);
  }

  /** Removes the first key. @returns undefined when there is none */
  take(): string | undefined {
    if (this.#taken === this.#keys.length) return undefined;
    const key = this.#keys[this.#taken++];
    if (this.#taken === this.#keys.length || this.#taken === compactAfter) {
      this.#keys = this.#keys.slice(this.#taken);
      this.#taken = 0;
    }
    return key;
  }

  get isEmpty(): boolean {
    return this.#taken === this.#keys.length;
  }

  clear(): void {
    this.#keys = [];
    this.#taken = 0;
  }
}

interface Outcome {
  readonly isDone: boolean;
  /** Whether the state on which the run has decided was not replaced. */
  readonly isCurrent: boolean;
}

async function tryReconcile<Registry extends QueueRegistry>(
  { registry, reconcile, failed }: WorkQueueOptions<Registry>,
  key: string,
): Promise<Outcome> {
  const deciding = decidingRegistry(registry);
  const isCurrent = (): boolean => deciding.decision?.isCurrent() ?? true;
  try {
    return { isDone: await reconcile(key, deciding), isCurrent: isCurrent() };
  } catch (error) {
    if (isCurrent()) failed(key, error); // Any error causes a retry.
    return { isDone: false, isCurrent: isCurrent() };
  }
}

/** @returns the registry of what is decided from now on */
function decidingRegistry<Registry extends QueueRegistry>(registry: Registry): Registry {
  const decision = registry.decide?.();
  return decision === undefined ? registry : { ...registry, decision };
}

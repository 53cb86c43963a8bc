/**
 * Decrypts the events of a log. Events whose keys are present are delivered in the call in which the engine delivers
 * them; while a key is fetched from another process, later ones wait, in order.
 */
import { type LogEvent, type LogSubscriber, StorageUnavailable, type Stored, type Subscription } from "../contract.ts";
import type { Encryption } from "./contract.ts";
import { isReady, opened, prepare } from "./stored-values.ts";

/** Events that wait for keys; above it, the subscription ends, and its cache is read again. */
const waitingMax = 10_000;

type Step = { readonly batch: readonly LogEvent[] } | { readonly progress: number };

export class DecryptedLog implements LogSubscriber {
  readonly #subscriber: LogSubscriber;
  readonly #encryption: Encryption;
  readonly #isShared: boolean;
  readonly #steps: Step[] = [];
  #waiting = 0;
  #isBusy = false;
  #ended = false;
  #inner: Subscription | undefined;

  /** @param isShared as for {@link opened} */
  constructor(subscriber: LogSubscriber, encryption: Encryption, isShared: boolean) {
    this.#subscriber = subscriber;
    this.#encryption = encryption;
    this.#isShared = isShared;
  }

  /** @param inner the subscription of the engine, which has this one as its subscriber */
  follow(inner: Subscription): Subscription {
    this.#inner = inner;
    return { close: () => this.#close() };
  }

  events(batch: readonly LogEvent[]): void {
    if (this.#ended) return;
    if (!this.#isBusy && batch.every((event) => this.#isReady(event)))
      return this.#subscriber.events(batch.map((event) => this.#opened(event)));
    this.#waiting += batch.length;
    if (this.#waiting > waitingMax) return this.#end(new StorageUnavailable("too many events wait for keys"));
    // The engine has the states before the changes only now.
    this.#steps.push({ batch: batch.map(withPrevious) });
    void this.#work();
  }

  progress(revision: number): void {
    if (this.#ended) return;
    if (!this.#isBusy) return this.#subscriber.progress(revision);
    const last = this.#steps.at(-1);
    if (last !== undefined && "progress" in last) this.#steps.pop(); // The newest one is enough.
    this.#steps.push({ progress: revision });
  }

  end(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#subscriber.end(error);
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let step = this.#steps.shift(); step !== undefined && !this.#ended; step = this.#steps.shift()) {
      const ready = "batch" in step ? { batch: await this.#decrypted(step.batch) } : step;
      if (!this.#ended) this.#deliver(ready);
    }
    this.#isBusy = false;
  }

  /** Decrypts each value as soon as its key is present, as keys are kept within a limit. */
  async #decrypted(batch: readonly LogEvent[]): Promise<LogEvent[]> {
    const open = async <One extends Stored>(stored: One): Promise<One> => {
      if (!isReady(stored, this.#encryption)) await prepare(stored, this.#encryption);
      return opened(stored, this.#encryption, this.#isShared);
    };
    const events: LogEvent[] = [];
    for (const event of batch) {
      const before = event.previous && (await open(event.previous()));
      const now = await open(event);
      events.push(before === undefined ? now : { ...now, previous: () => before });
    }
    this.#waiting -= batch.length;
    return events;
  }

  #deliver(step: Step): void {
    try {
      if ("batch" in step) this.#subscriber.events(step.batch);
      else this.#subscriber.progress(step.progress);
    } catch (error) {
      this.#end(error as Error);
    }
  }

  #isReady(event: LogEvent): boolean {
    const remote = this.#encryption.of(event.key)?.cipher.remote;
    return remote === undefined || statesOf(event).every((state) => isReady(state, this.#encryption));
  }

  #opened(event: LogEvent): LogEvent {
    const { previous } = event;
    const open = <One extends Stored>(stored: One): One => opened(stored, this.#encryption, this.#isShared);
    const now = open(event);
    return previous === undefined ? now : { ...now, previous: () => open(previous()) };
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#close();
    this.#subscriber.end(error);
  }

  #close(): void {
    this.#ended = true;
    this.#steps.length = 0;
    this.#inner?.close();
  }
}

function withPrevious(event: LogEvent): LogEvent {
  const before = event.previous?.();
  return before === undefined ? event : { ...event, previous: () => before };
}

function statesOf(event: LogEvent): Stored[] {
  const before = event.previous?.();
  return before === undefined ? [event] : [event, before];
}

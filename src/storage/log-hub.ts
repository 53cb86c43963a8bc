/** Hands committed events to the subscribers of their prefixes. */
import type { LogEvent, LogSubscriber } from "./contract.ts";

/** Prefixes end in a slash, so that an event finds its subscribers by the few places where its key can be cut. */
export class LogHub {
  readonly #byPrefix = new Map<string, Set<LogSubscriber>>();

  add(prefix: string, subscriber: LogSubscriber): void {
    const subscribers = this.#byPrefix.get(prefix);
    if (subscribers === undefined) this.#byPrefix.set(prefix, new Set([subscriber]));
    else subscribers.add(subscriber);
  }

  remove(prefix: string, subscriber: LogSubscriber): void {
    const subscribers = this.#byPrefix.get(prefix);
    subscribers?.delete(subscriber);
    if (subscribers?.size === 0) this.#byPrefix.delete(prefix);
  }

  /** @param batch all events of one flush, in order @param revision everything up to it has now been delivered */
  deliver(batch: readonly LogEvent[], revision: number): void {
    const parts = new Map<string, LogEvent[]>();
    for (const event of batch) {
      for (const prefix of this.#prefixesOf(event.key)) {
        const part = parts.get(prefix);
        if (part === undefined) parts.set(prefix, [event]);
        else part.push(event);
      }
    }
    for (const [prefix, part] of parts) for (const subscriber of this.#byPrefix.get(prefix) ?? []) subscriber.events(part);
    for (const subscribers of this.#byPrefix.values()) for (const subscriber of subscribers) subscriber.progress(revision);
  }

  end(error: Error | undefined): void {
    for (const subscribers of this.#byPrefix.values()) for (const subscriber of subscribers) subscriber.end(error);
    this.#byPrefix.clear();
  }

  *#prefixesOf(key: string): Generator<string> {
    if (this.#byPrefix.has("")) yield "";
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1)) {
      const prefix = key.slice(0, slash + 1);
      if (this.#byPrefix.has(prefix)) yield prefix;
    }
  }
}

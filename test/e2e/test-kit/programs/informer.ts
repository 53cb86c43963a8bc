/** A list and a watch of one kind, as a client library runs them, with everything that they delivered. */
import assert from "node:assert/strict";
import type { WatchEvent } from "../../../support/http2-client.ts";
import { turnsUntil } from "../../../support/pass-turns.ts";
import type { CuttableWatch, Http2Connection } from "../../../support/watch-connection.ts";
import { type Kind, parityLabel } from "./kinds.ts";
import { type Answered, type Expected, textOf } from "./model.ts";
import { listed } from "./requests.ts";

/** What an informer reads, and how it begins. */
export interface InformerOptions {
  readonly kind: Kind;
  /** Selects objects by the parity of their values. */
  readonly parity?: number;
  /** Reads the existing objects by the watch, instead of by a list. */
  readonly watchesInitialEvents?: boolean;
}

/** The events and objects of a collection. */
export class Informer {
  readonly options: InformerOptions;
  /** By name. */
  readonly objects = new Map<string, Answered>();
  /** Since the last list. */
  events: Expected[] = [];
  readonly #connection: Http2Connection;
  #revision = 0;
  #watch: CuttableWatch | undefined;
  #expired = Promise.withResolvers<void>();
  #listed = Promise.withResolvers<void>();

  constructor(connection: Http2Connection, options: InformerOptions) {
    this.#connection = connection;
    this.options = options;
  }

  /** Resolves when the watch has ended with 410. */
  get expired(): Promise<void> {
    return this.#expired.promise;
  }

  /** Reads the existing objects, and watches from there. Resolves when the watch has begun. */
  async start(): Promise<void> {
    const { kind, watchesInitialEvents = false } = this.options;
    this.#reset();
    if (watchesInitialEvents) {
      await this.#open("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=");
      return this.#listed.promise;
    }
    const { items, metadata } = await listed(this.#connection, `${kind.path}?${this.#selector}`);
    for (const item of items) this.objects.set(item.metadata.name, item);
    this.#revision = Number(metadata.resourceVersion);
    return this.#open(`&resourceVersion=${this.#revision}`);
  }

  /** Watches from a revision, without existing objects. */
  startFrom(revision: number): Promise<void> {
    this.#reset();
    this.#revision = revision;
    return this.#open(`&resourceVersion=${revision}`);
  }

  /** Resolves when this number of events has arrived, or a while has passed. */
  async received(count: number): Promise<void> {
    await turnsUntil(() => this.events.length >= count).catch(() => undefined); // The caller compares the events.
  }

  /** Ends the watch, and continues at the last revision that was received. */
  cut(): Promise<void> {
    this.#watch?.cut();
    return this.#open(`&resourceVersion=${this.#revision}`);
  }

  stop(): void {
    this.#watch?.cut();
  }

  #reset(): void {
    this.events = [];
    this.objects.clear();
    this.#revision = 0;
    this.#expired = Promise.withResolvers();
    this.#expired.promise.catch(() => {}); // It is awaited at the next restore.
    this.#listed = Promise.withResolvers();
    this.#listed.promise.catch(() => {}); // It is awaited only where the watch reads the existing objects.
  }

  get #selector(): string {
    const { parity } = this.options;
    return parity === undefined ? "" : `labelSelector=${parityLabel}%3D${parity}`;
  }

  /** Resolves when the watch has begun. */
  async #open(from: string): Promise<void> {
    const path = `${this.options.kind.path}?watch=1&allowWatchBookmarks=true&${this.#selector}${from}`;
    // Those of this watch, whose end can arrive after the start of the next one.
    const ends = [Promise.withResolvers<void>(), this.#expired, this.#listed] as const;
    const [begun] = ends;
    const fail = (problem: string): void => {
      for (const { reject } of ends) reject(new Error(`watch of ${path}: ${problem}`));
    };
    this.#watch = this.#connection.open(path, {
      begin: begun.resolve,
      event: (event) => {
        try {
          this.#take(event);
        } catch (error) {
          fail(String(error));
        }
      },
      end: (error) => fail(`ended: ${JSON.stringify(error)}`), // Does nothing after 410.
    });
    await begun.promise;
  }

  #take({ type, object }: WatchEvent): void {
    if (type === "ERROR") {
      assert.equal(`${object.code} ${object.reason}`, "410 Expired");
      this.#expired.resolve();
      return;
    }
    const revision = Number(object.metadata.resourceVersion);
    if (type === "BOOKMARK") {
      assert.ok(revision >= this.#revision, `a bookmark ${revision} after ${this.#revision}`);
      this.#revision = revision;
      if (object.metadata.annotations?.["k8s.io/initial-events-end"] !== "true") return;
      this.events = [];
      this.#listed.resolve();
      return;
    }
    const isInitial = this.options.watchesInitialEvents === true && this.#revision === 0;
    assert.ok(isInitial || revision > this.#revision, `${type} at ${revision} after ${this.#revision}`);
    if (!isInitial) this.#revision = revision;
    const { name } = object.metadata;
    if (type === "DELETED") this.objects.delete(name);
    else this.objects.set(name, object);
    this.events.push({ type: type as Expected["type"], name, revision, text: textOf(object) });
  }
}

/** @throws AssertionError unless the events are the expected ones in their order, or, with `isPrefix`, the first of them */
export function checkEvents(events: readonly Expected[], expected: readonly Expected[], isPrefix: boolean): void {
  const due = isPrefix ? expected.slice(0, events.length) : expected;
  assert.deepEqual(
    events.map((event, index) => (due[index]?.revision === undefined ? { ...event, revision: undefined } : event)),
    due,
  );
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { throwingExchange } from "../../../test/support/throwing-exchange.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import type { WatchScope } from "../../registry/watch.ts";
import type { BodyStream } from "../../request/exchange.ts";
import { openMemoryStorage } from "../../storage/memory.ts";
import { type EntrySource, makeEntry } from "../../watch-cache/entry.ts";
import { openWatchCache } from "../../watch-cache/watch-cache.ts";
import { jsonLines } from "../representation/event-framing.ts";
import { PieceMemory } from "../representation/piece-memory.ts";
import { WatchEncoder } from "./watch-encoder.ts";
import { startWatch } from "./watch-stream.ts";

const prefix = "/registry/things/";
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };
const scope: WatchScope = { text: "", topic: undefined, objects: () => [], shown: (event) => event };

/** A client that has read so many bytes of what it got. */
class Client implements BodyStream {
  readonly events: string[] = [];
  writtenBytes = 0;
  readBytes = 0;
  state = "open";
  #drained: (() => void)[] = [];

  get pendingBytes(): number {
    return this.writtenBytes - this.readBytes;
  }
  write(piece: Buffer): boolean {
    this.writtenBytes += piece.length;
    for (const line of piece.toString().trimEnd().split("\n")) this.events.push(JSON.parse(line).object.metadata.name);
    return this.pendingBytes === 0;
  }
  drained(): Promise<void> {
    return new Promise((resolve) => this.#drained.push(resolve));
  }
  read(): void {
    this.readBytes = this.writtenBytes;
    for (const resolve of this.#drained.splice(0)) resolve();
  }
  end(): void {
    if (this.state === "open") this.state = "ended";
  }
  abort(): void {
    this.state = "aborted";
  }
}

interface Outcome {
  readonly state: string;
  /** How many events it was sent. */
  readonly events: number;
}

const objectBytes = 16 << 10;
const written = 400;
/** So many events at least fit into what a watcher may be behind, and in what is kept for it. */
const rows: [
  what: string,
  kept: number,
  does: "reads at the end" | "never reads" | "reads a little late",
  want: (slow: Outcome) => boolean,
][] = [
  [
    "reads late, and everything is still kept: it gets all",
    1000,
    "reads at the end",
    ({ state, events }) => state === "open" && events === written,
  ],
  [
    "reads late, and its events have gone: it is ended",
    50,
    "reads at the end",
    ({ state, events }) => state === "ended" && events < 64,
  ],
  [
    "never reads: it is cut off, and little was buffered",
    1000,
    "never reads",
    ({ state, events }) => state === "aborted" && events < 64,
  ],
  [
    "reads now and then: it gets all",
    50,
    "reads a little late",
    ({ state, events }) => state === "open" && events === written,
  ],
];

for (const [what, kept, does, want] of rows) {
  test(`a slow watcher ${what}; the others receive all events`, async () => {
    const storage = await openMemoryStorage({
      clock: systemClock,
      historyMs: 300_000,
      historyBytesMax: 1 << 30,
      valueBytesMax: 1 << 20,
    });
    const source = { prefix, fingerprint: 1, selectableFields: {}, indexedFields: [] } as unknown as EntrySource;
    const entryOf = (stored: { key: string; revision: number; value: Buffer }) =>
      makeEntry(stored.key, stored.revision, stored.value, seal, source);
    const cache = openWatchCache({ storage, prefix, clock: systemClock, entryOf, eventsMax: kept });
    const { revision } = await cache.current();
    const timers: (() => void)[] = [];
    const clock = {
      now: () => 0,
      after(delayMs: number, run: () => void) {
        if (delayMs === 30_000) timers.push(run);
        return () => void (timers.includes(run) && timers.splice(timers.indexOf(run), 1));
      },
    };
    const form = {
      text: "json",
      framing: jsonLines,
      objectOf: ({ json }: { json: Buffer }) => json,
      bookmarkOf: () => Buffer.alloc(0),
      statusOf: () => Buffer.alloc(0),
    };
    const memory = new PieceMemory();
    const encoder = new WatchEncoder(form, scope);
    const plan = { scope, initial: undefined, from: revision, initialEventsEnd: undefined, startError: undefined };
    const clients = Array.from({ length: 11 }, () => new Client());
    let cutOffs = 0;
    for (const stream of clients) {
      startWatch({
        stream,
        cache,
        clock,
        plan,
        encoder,
        memory,
        sent: () => {},
        listed() {},
        started: () => {},
        cutOff: () => void cutOffs++,
        bookmarks: false,
        firstDiffers: false,
        timeoutMs: 1e9,
        startError: undefined,
        exchange: throwingExchange,
      });
    }
    const [slow, ...others] = clients as [Client, ...Client[]];
    const value = (name: string): Buffer =>
      Buffer.from(`${head}"metadata":{"name":"${name}"},"data":"${"x".repeat(objectBytes)}"}`);
    for (let index = 0; index < written; index++) {
      await storage.commit([], [{ key: `${prefix}${index % 7}`, value: value(`o${index}`), seal }]);
      await new Promise((resolve) => setImmediate(resolve));
      for (const client of others) client.read();
      if (does === "reads a little late" && index % 10 === 9) slow.read();
    }
    if (does === "never reads") for (const run of timers.splice(0)) run();
    for (let turn = 0; turn < written && slow.state === "open"; turn++) {
      slow.read();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const all = Array.from({ length: written }, (_, index) => `o${index}`);
    for (const client of others)
      assert.deepEqual({ state: client.state, events: client.events }, { state: "open", events: all });
    assert.deepEqual(slow.events, all.slice(0, slow.events.length), "in order, without a gap");
    assert.ok(
      want({ state: slow.state, events: slow.events.length }),
      `${slow.state} after ${slow.events.length} events`,
    );
    assert.equal(cutOffs, slow.state === "aborted" ? 1 : 0);
    cache.close();
    await storage.close();
  });
}

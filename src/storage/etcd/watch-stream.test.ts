/** One stream of watches at a member that answers as the test says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WatchHandler } from "./api/client.ts";
import type { WatchResponse } from "./api/messages.ts";
import { type Watch, WatchStream } from "./watch-stream.ts";

interface Opened {
  readonly stream: WatchStream;
  readonly handler: WatchHandler;
  /** How the stream has ended. */
  readonly ends: string[];
}

const watch: Watch = {
  key: Buffer.from("a"),
  rangeEnd: Buffer.from("b"),
  delivered: 1,
  events() {},
  progress() {},
  compacted() {},
};
const confirmation = { header: { revision: 1 }, watch_id: 1, created: true } as WatchResponse;

/** The member answers probes, and nothing else. */
function open(): Opened {
  const handlers: WatchHandler[] = [];
  const ends: string[] = [];
  const stream = new WatchStream({
    client: {
      watch(handler) {
        handlers.push(handler);
        return { send() {}, close() {}, probe: async () => {} };
      },
    },
    answersProgress: () => true,
    alive() {},
    ended: (_stream, watches, { message }) => ends.push(`${watches.length} watches: ${message}`),
  });
  stream.add(watch);
  return { stream, handler: handlers[0] as WatchHandler, ends };
}

/** Requests progress until about so many probes have been answered. */
async function probe({ stream }: Opened, count: number): Promise<void> {
  for (let at = 0; at < count * 22; at++) {
    stream.requestProgress();
    await Promise.resolve();
    await Promise.resolve();
  }
}

test("a stream that stays silent while the member answers ends, and its watches with it", async () => {
  const opened = open();
  await probe(opened, 30);
  assert.deepEqual(opened.ends, []);
  await probe(opened, 60);
  assert.deepEqual(opened.ends, ["1 watches: the watch stream is silent"]);
});

test("a stream that answers now and then stays open", async () => {
  const opened = open();
  for (let at = 0; at < 4; at++) {
    await probe(opened, 40);
    opened.handler.response(confirmation);
  }
  assert.deepEqual(opened.ends, []);
});

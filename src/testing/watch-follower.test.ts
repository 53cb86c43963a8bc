/** The follower notices what a broken watch would do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Http2Client, WatchEvent } from "./http2-client.ts";
import { followCollection } from "./watch-follower.ts";

const event = (type: string, name: string, version: number, labels = {}): WatchEvent => ({
  type,
  object: { metadata: { name, resourceVersion: String(version), labels } },
});

/** The list is of `a` at 5; kind 4 selects x=1. */
const rows: [what: string, kind: number, events: WatchEvent[], problems: string[]][] = [
  ["a good watch", 0, [event("MODIFIED", "a", 6), event("ADDED", "b", 7), event("DELETED", "a", 8)], []],
  ["an event twice", 0, [event("ADDED", "b", 6), event("ADDED", "b", 6)], ["ADDED b at 6 after 6", "ADDED b at 6, which was there"]],
  ["events out of order", 0, [event("ADDED", "b", 8), event("ADDED", "c", 7)], ["ADDED c at 7 after 8"]],
  ["a missing ADDED", 0, [event("MODIFIED", "b", 6)], ["MODIFIED b at 6, which was not there"]],
  ["what the list has", 0, [event("ADDED", "a", 5)], ["ADDED a at 5 after 5", "ADDED a at 5, which was there"]],
  ["what is not selected", 4, [event("ADDED", "b", 6)], ["ADDED b, which is not selected"]],
  ["a bookmark ahead of an event", 0, [event("BOOKMARK", "", 9), event("ADDED", "b", 8)], ["ADDED b at 8 after 9"]],
  ["an error", 0, [{ type: "ERROR", object: { message: "too old" } }], ["ERROR too old"]],
];

for (const [what, kind, events, want] of rows) {
  test(what, async () => {
    const body = { metadata: { resourceVersion: "5" }, items: [event("", "a", 5).object] };
    const client: Http2Client = {
      send: async () => ({ status: 200, body }),
      watch(_path, onEvent) {
        for (const one of events) onEvent(one);
        return () => {};
      },
      close() {},
    };
    assert.deepEqual((await followCollection(client, "/x", kind)).problems, want);
  });
}

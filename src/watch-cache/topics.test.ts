import assert from "node:assert/strict";
import { test } from "node:test";
import type { CacheEvent, Entry, Topic } from "./contract.ts";
import { eventsByTopic, topicText } from "./topics.ts";

function entry(name: string, node: string): Entry {
  return { key: `/pods/n/${name}`, index: { name, fields: new Map([["spec.nodeName", node]]) } } as unknown as Entry;
}

const bound: CacheEvent = { type: "MODIFIED", revision: 2, at: 0, entry: entry("a", "x"), previous: entry("a", "") };
const moved: CacheEvent = { type: "MODIFIED", revision: 3, at: 0, entry: entry("a", "y"), previous: entry("a", "x") };
const other: CacheEvent = { type: "ADDED", revision: 4, at: 0, entry: entry("b", "x"), previous: undefined };
const batch = [bound, moved, other];

const rows: [what: string, topic: Topic, want: readonly CacheEvent[] | undefined][] = [
  ["one object", { key: "/pods/n/a" }, [bound, moved]],
  ["an object without events", { key: "/pods/n/c" }, undefined],
  ["a namespace", { prefix: "/pods/n/" }, batch],
  ["another namespace", { prefix: "/pods/other/" }, undefined],
  ["a name in any namespace", { field: "metadata.name", value: "b" }, [other]],
  ["a value before or after the event, each event once", { field: "spec.nodeName", value: "x" }, batch],
  ["a value before the event", { field: "spec.nodeName", value: "" }, [bound]],
  ["a field without an index", { field: "status.phase", value: "" }, undefined],
];
for (const [what, topic, want] of rows)
  test(`finds the events of ${what}`, () =>
    assert.deepEqual(
      eventsByTopic(batch, new Map([[topicText(topic), true]]), ["spec.nodeName"]).get(topicText(topic)),
      want,
    ));

test("does nothing when no subscriber has a topic", () =>
  assert.equal(eventsByTopic(batch, new Map([[undefined, true]]), []).size, 0));

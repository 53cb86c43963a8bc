/**
 * The check finds the errors of a broken server. Each row adds the observations of one client to
 * the same small history.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../support/manual-clock.ts";
import { checkWorld } from "./check.ts";
import { type Answered, type View, views } from "./views.ts";
import { eventTypes, type Segment, World } from "./world.ts";

const all = views[0] as View;
const notOne = views.find(({ query }) => query.includes("x!%3D1")) as View;
const type = (name: (typeof eventTypes)[number]): number => eventTypes.indexOf(name);

const object = (name: string, revision: number, token: string, x?: string): Answered => ({
  metadata: {
    namespace: "a",
    name,
    uid: `uid-${name}`,
    resourceVersion: String(revision),
    labels: x === undefined ? {} : { x },
  },
  data: { token },
});

/** `+n1@11`, `*n1@13`, `-n2@14`, and `|15` for a bookmark. */
function segment(view: View, from: number | undefined, text: string, initialEnd?: number): Segment {
  const events = text.split(" ").filter((one) => one !== "");
  const number = (event: string): number =>
    type((["ADDED", "MODIFIED", "DELETED", "BOOKMARK"] as const)["+*-|".indexOf(event[0] as string)] as "ADDED");
  return { view, from, initialEnd, events: events.map((event) => Number(/\d+$/.exec(event)?.[0]) * 4 + number(event)) };
}

const trueLog = "+n1@11 +n2@12 *n1@13 -n2@14 *n1@15";

/** n1 and n2 are created, n1 loses its label, n2 is deleted, n1 gets its label again. */
function history(): World {
  const world = new World({ clients: [], connections: [], clock: manualClock(), seed: 1, operationsMax: 0 });
  world.start = 10;
  world.answered = 15;
  const states: [revision: number, created: boolean, object: Answered][] = [
    [11, true, object("n1", 11, "1", "1")],
    [12, true, object("n2", 12, "2")],
    [13, false, object("n1", 13, "3")],
    [15, false, object("n1", 15, "4", "1")],
  ];
  for (const [revision, created, one] of states) {
    world.see("configmaps", "a writer", one);
    world.writes.configmaps.push({
      revision,
      created,
      known: { revision: revision - 1, deletions: 0 },
      sentAt: world.now,
    });
  }
  world.deletions.push({
    collection: "configmaps",
    uid: "uid-n2",
    known: { revision: 13, deletions: 0 },
    sentAt: world.now,
  });
  world.seeRemoval("configmaps", "the log", object("n2", 14, "2"));
  return world;
}

const listed = { what: "list", view: all, known: { revision: 0, deletions: 0 }, after: "", until: undefined };

const rows: [what: string, see: (world: World) => void, want: RegExp | undefined, log?: string][] = [
  ["no observations", () => {}, undefined],
  ["a complete watch", (world) => world.segments.push(segment(all, 10, trueLog)), undefined],
  ["a watch that is cut", (world) => world.segments.push(segment(all, 11, "+n2@12 |12 *n1@13")), undefined],
  [
    "an event is missing",
    (world) => world.segments.push(segment(all, 10, "+n1@11 *n1@13")),
    /MODIFIED at 13 after 11 instead of ADDED at 12/,
  ],
  [
    "an event comes twice",
    (world) => world.segments.push(segment(all, 11, "+n2@12 +n2@12")),
    /ADDED at 12 after 12 instead of MODIFIED at 13/,
  ],
  [
    "events are in the wrong order",
    (world) => world.segments.push(segment(all, 10, "+n2@12 +n1@11")),
    /ADDED at 12 after 10 instead of ADDED at 11/,
  ],
  [
    "an event of another type",
    (world) => world.segments.push(segment(all, 10, "*n1@11")),
    /MODIFIED at 11 after 10 instead of ADDED at 11/,
  ],
  [
    "an event is repeated after a resume",
    (world) => world.segments.push(segment(all, 13, "*n1@13")),
    /MODIFIED at 13 after 13 instead of DELETED at 14/,
  ],
  [
    "a bookmark comes before its events",
    (world) => world.segments.push(segment(all, 10, "+n1@11 |12")),
    /a bookmark at 12 instead of ADDED at 12/,
  ],
  [
    "a bookmark is older than its predecessor",
    (world) => world.segments.push(segment(all, 10, "+n1@11 +n2@12 |11")),
    /a bookmark at 11 after 12/,
  ],
  [
    "transitions by selector",
    (world) => world.segments.push(segment(notOne, 10, "+n2@12 +n1@13 -n2@14 -n1@15")),
    undefined,
  ],
  [
    "a transition is missing",
    (world) => world.segments.push(segment(notOne, 10, "+n2@12 +n1@13 -n2@14 |15")),
    /a bookmark at 15 instead of DELETED at 15/,
  ],
  [
    "a transition shows the new state",
    (world) => world.seeRemoval("configmaps", "w", object("n1", 15, "4", "1")),
    /a\/n1 at 15 was removed as .*"4".*was .*"3"/,
  ],
  [
    "a deletion shows another state",
    (world) => world.seeRemoval("configmaps", "w", object("n2", 14, "0")),
    /w, DELETED: .* at 14, which was .* elsewhere/,
  ],
  [
    "an object differs",
    (world) => world.see("configmaps", "w", object("n1", 13, "0")),
    /w: .* at 13, which was .* elsewhere/,
  ],
  ["initial events", (world) => world.segments.push(segment(all, undefined, "+n2@12 +n1@13 |13 -n2@14", 2)), undefined],
  [
    "an initial event is missing",
    (world) => world.segments.push(segment(all, undefined, "+n1@13 |13", 1)),
    /initial events up to 13 lead to a\/n1@13, not a\/n1@13,a\/n2@12/,
  ],
  [
    "an initial event shows an old state",
    (world) => world.segments.push(segment(all, undefined, "+n1@11 +n2@12 |13", 2)),
    /lead to a\/n1@11,a\/n2@12, not/,
  ],
  [
    "a correct list",
    (world) => world.listed.push({ ...listed, revision: 13, items: ["a/n1@13", "a/n2@12"] }),
    undefined,
  ],
  [
    "the rest of a list",
    (world) => world.listed.push({ ...listed, after: "a/n1", revision: 13, items: ["a/n2@12"] }),
    undefined,
  ],
  [
    "a list lacks an object",
    (world) => world.listed.push({ ...listed, revision: 13, items: ["a/n1@13"] }),
    /list: at 13 after "" it has a\/n1@13, not/,
  ],
  [
    "a list of another version",
    (world) => world.listed.push({ ...listed, revision: 13, items: ["a/n1@11", "a/n2@12"] }),
    /it has a\/n1@11,a\/n2@12, not/,
  ],
  [
    "a list out of order",
    (world) => world.listed.push({ ...listed, revision: 13, items: ["a/n2@12", "a/n1@13"] }),
    /it has a\/n2@12,a\/n1@13, not/,
  ],
  [
    "a list is older than a known revision",
    (world) =>
      world.listed.push({
        ...listed,
        known: { revision: 14, deletions: 0 },
        revision: 13,
        items: ["a/n1@13", "a/n2@12"],
      }),
    /list: at 13, though 14 was known/,
  ],
  [
    "a list shows an object after its deletion was answered",
    (world) =>
      world.listed.push({
        ...listed,
        known: { revision: 0, deletions: 1 },
        revision: 13,
        items: ["a/n1@13", "a/n2@12"],
      }),
    /list: at 13, though 14 was known/,
  ],
  [
    "a correct get",
    (world) =>
      world.got.push({ collection: "configmaps", key: "a/n1", revision: 13, known: { revision: 14, deletions: 0 } }),
    undefined,
  ],
  [
    "a get is older than a known revision",
    (world) =>
      world.got.push({ collection: "configmaps", key: "a/n1", revision: 11, known: { revision: 13, deletions: 0 } }),
    /get of configmaps a\/n1: at 11, though 13 was known/,
  ],
  [
    "an existing object is not found",
    (world) =>
      world.got.push({ collection: "configmaps", key: "a/n1", revision: 0, known: { revision: 13, deletions: 0 } }),
    /a\/n1: not found, though 13 was known/,
  ],
  ["history is removed too early", (world) => world.recordCompacted("w", 12), /w: 410 for 12/],
  [
    "history is removed after its time",
    (world) => {
      world.options.clock.advance(60_000);
      world.recordCompacted("w", 12);
    },
    undefined,
  ],
  ["the log lacks a write", () => {}, /lacks 15, which was answered/, "+n1@11 +n2@12 *n1@13 -n2@14"],
  ["the log lacks a deletion", () => {}, /lacks the deletion of uid-n2/, "+n1@11 +n2@12 *n1@13 *n1@15"],
  ["the log has a write twice", () => {}, /has MODIFIED at 13 after 13/, "+n1@11 +n2@12 *n1@13 *n1@13 -n2@14 *n1@15"],
  [
    "a write has a revision before one that was answered",
    (world) =>
      world.writes.configmaps.push({
        revision: 13,
        created: false,
        known: { revision: 14, deletions: 0 },
        sentAt: world.now,
      }),
    /a write got 13, though 14 had been answered before/,
  ],
];

for (const [what, see, want, log = trueLog] of rows) {
  test(`${want === undefined ? "accepts" : "reports"}: ${what}`, () => {
    const world = history();
    see(world);
    const problems = checkWorld(world, [segment(all, 10, log), segment(all, 10, "")], {
      historyMs: 60_000,
      historyBytesMax: 1 << 20,
    });
    if (want === undefined) assert.deepEqual(problems, []);
    else
      assert.ok(
        problems.some((problem) => want.test(problem)),
        `${want}: ${problems.join("\n")}`,
      );
  });
}

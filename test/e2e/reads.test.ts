/**
 * Answers to gets, lists and watches on the wire: statuses, headers, bodies, events and their
 * times. The tests set the clock.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { KubeObject } from "../../src/apimachinery/object.ts";
import { manualClock } from "../support/manual-clock.ts";
import { turnsUntil } from "../support/pass-turns.ts";
import type { Answer, RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
const streaming = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const second = 1000;
const minute = 60 * second;

const clock = manualClock(Date.now());
const { client } = await startServerWithClient({ clock, requestTimeoutMs: 86_400_000, identityRenewMs: 86_400_000 });

describe("reads", () => {
  before(async () => {
    for (const name of ["a", "b", "c"]) await create(name);
  });

  const create = (name: string): Promise<Answer> =>
    client.send({ method: "POST", path: maps, body: { metadata: { name, labels: { n: name } } } });

  /**
   * Advances the clock by one step per turn until the answer.
   * @returns the answer, and the number of steps
   */
  async function sendAndAdvance(request: RawRequest, stepMs = second): Promise<Answer & { readonly steps: number }> {
    let answer: Answer | undefined;
    // The clock would also close an idle connection.
    const waiting = client.send({ ...request, headers: { ...request.headers, connection: "close" } }).then((one) => {
      answer = one;
    });
    const steps = await turnsUntil(() => {
      if (answer !== undefined) return true;
      clock.advance(stepMs);
      return false;
    });
    await waiting;
    return Object.assign(answer as unknown as Answer, { steps });
  }

  const tooLarge = (kind: string): object => ({
    status: "Failure",
    reason: "Timeout",
    code: 504,
    message: kind,
    details: {
      retryAfterSeconds: 1,
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    },
  });

  const futureRows = [
    `${maps}/a?resourceVersion=99999`,
    `${maps}?resourceVersion=99999`,
    `${maps}?resourceVersion=99999&limit=1`,
    `${maps}?resourceVersion=99999&resourceVersionMatch=Exact`,
    `${maps}?resourceVersion=99999&resourceVersionMatch=NotOlderThan`,
  ];
  for (const path of futureRows) {
    test(`answers 504 after waiting for a future resourceVersion: ${path}`, async () => {
      const answer = await sendAndAdvance({ path });
      const current = /current: (\d+)$/.exec(answer.body.message)?.[1];
      assert.partialDeepStrictEqual(
        answer.body,
        tooLarge(`Timeout: Too large resource version: 99999, current: ${current}`),
      );
      assert.deepEqual([answer.status, answer.headers["retry-after"]], [504, "1"]);
      assert.ok(answer.steps >= 3, "the server waits");
    });
  }

  test("a watch from a future resourceVersion waits, or sends an error event when it requests initial events", async () => {
    assert.equal(
      (
        await sendAndAdvance({
          path: `${maps}?watch=1&resourceVersion=99999&timeoutSeconds=5&allowWatchBookmarks=true`,
        })
      ).text,
      "",
    );
    const [event] = eventsOf(await sendAndAdvance({ path: `${maps}?watch=1&resourceVersion=99999&${streaming}` }));
    assert.equal(event?.type, "ERROR");
    assert.partialDeepStrictEqual(event.object, tooLarge(event.object.message));
  });

  test("rejects a resourceVersion that is not a number", async () => {
    const list = await client.send({ path: `${maps}?resourceVersion=x` });
    assert.deepEqual([list.status, list.body.reason], [400, "BadRequest"]);
    for (const path of [`${maps}/a?resourceVersion=x`, `${maps}?watch=1&resourceVersion=x`]) {
      const { status, body } = await client.send({ path });
      assert.deepEqual([status, body.reason], [500, undefined]);
      assert.equal(body.message, 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax');
    }
  });

  const bookmark = "BOOKMARK -";
  const end = "BOOKMARK - end";
  const all = ["ADDED a", "ADDED b", "ADDED c"];
  const streamRows: [what: string, query: string, want: string[]][] = [
    ["without a resourceVersion sends all objects", "", all],
    ["at resourceVersion 0 sends all objects", "&resourceVersion=0", all],
    [
      "with bookmarks marks the end of the initial events, and ends with a bookmark",
      "&allowWatchBookmarks=true",
      [...all, end, bookmark],
    ],
    [
      "for a streaming list marks the end of the initial events, and ends with a bookmark",
      `&${streaming}`,
      [...all, end, bookmark],
    ],
    [
      "for a streaming list with a label selector sends the matching objects",
      `&${streaming}&labelSelector=n%3Db`,
      ["ADDED b", end, bookmark],
    ],
    [
      "for a streaming list with a field selector sends the matching objects",
      `&${streaming}&fieldSelector=metadata.name%3Dc`,
      ["ADDED c", end, bookmark],
    ],
    [
      "for a streaming list without matching objects sends bookmarks only",
      `&${streaming}&labelSelector=n%3Dx`,
      [end, bookmark],
    ],
  ];
  for (const [what, query, want] of streamRows) {
    test(`a watch ${what}`, async () => {
      const answer = await sendAndAdvance({ path: `${maps}?watch=1&timeoutSeconds=10${query}` });
      const received = eventsOf(answer).map(({ type, object: { metadata } }) => {
        return `${type} ${metadata.name ?? "-"}${metadata.annotations?.["k8s.io/initial-events-end"] === "true" ? " end" : ""}`;
      });
      assert.deepEqual(received, want);
      assert.equal(answer.headers["content-type"], "application/json");
    });
  }

  test("sends bookmarks about every minute, with the fields that the kind always writes", async () => {
    const path = "/api/v1/pods?watch=1&resourceVersion=1&timeoutSeconds=200&allowWatchBookmarks=true";
    const answer = await sendAndAdvance({ path });
    const { body } = await client.send({ path: "/api/v1/pods" });
    const { resourceVersion } = body.metadata;
    const object = {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { resourceVersion },
      spec: { containers: null },
      status: {},
    };
    assert.deepEqual(eventsOf(answer), Array(4).fill({ type: "BOOKMARK", object }));
  });

  test("a watch without a timeout lasts between 30 and 60 minutes", async () => {
    for (const path of [`${maps}?watch=1`, `${maps}?watch=1&timeoutSeconds=0`, "/api/v1/watch/configmaps"]) {
      const { steps } = await sendAndAdvance({ path }, 10 * second);
      // Some turns pass before the watch begins.
      assert.ok(steps >= 180 && steps <= 600, String(steps));
    }
  });

  const initialEnd = { "k8s.io/initial-events-end": "true" };
  const bookmarkRows: [resource: string, annotations: object, replicas: number | undefined][] = [
    ["deployments", initialEnd, 0],
    ["statefulsets", initialEnd, 0],
    ["replicasets", initialEnd, 0],
    ["daemonsets", { "deprecated.daemonset.template.generation": "0", ...initialEnd }, undefined],
  ];
  for (const [resource, annotations, replicas] of bookmarkRows)
    test(`the bookmark of ${resource} has the fields that upstream's internal type always has`, async () => {
      const path = `/apis/apps/v1/namespaces/default/${resource}?watch=1&timeoutSeconds=10&${streaming}`;
      const { object } = eventsOf(await sendAndAdvance({ path }))[0] as { object: KubeObject };
      assert.deepEqual([object.metadata.annotations, object.spec.replicas], [annotations, replicas]);
    });

  test("a watch of Tables sends its bookmarks as Tables", async () => {
    const path = `${maps}?watch=1&timeoutSeconds=10&${streaming}`;
    for (const [query, first, second] of [
      ["&labelSelector=n%3Da", "ADDED a", "BOOKMARK "],
      ["&labelSelector=none", "BOOKMARK ", "BOOKMARK "],
    ] as const) {
      const answer = await sendAndAdvance({ path: path + query, headers: { accept: table } });
      const events = eventsOf(answer);
      assert.ok(events.every(({ object }) => object.kind === "Table"));
      assert.deepEqual(
        events.slice(0, 2).map(({ type, object }) => `${type} ${object.rows[0].cells[0]}`),
        [first, second],
      );
      assert.deepEqual(
        events.map(({ object }) => object.columnDefinitions !== null),
        [true, ...events.slice(1).map(() => false)],
      );
      const last = events.find(({ object }) => object.rows[0].object.metadata.annotations !== undefined);
      assert.deepEqual(last?.object.rows[0].object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
    }
  });

  test("answers 410 to continued lists and to watches after five minutes, with a token for an inconsistent list", async () => {
    const first = (await client.send({ path: `${maps}?limit=1` })).body;
    await create("b2");
    const { resourceVersion } = first.metadata;
    const next = (token: string): Promise<Answer> => client.send({ path: `${maps}?limit=1&continue=${token}` });
    const early = (await next(first.metadata.continue)).body;
    assert.deepEqual([early.metadata.resourceVersion, early.metadata.remainingItemCount], [resourceVersion, 1]);
    for (let step = 0; step < 12; step++) {
      clock.advance(minute / 2);
      await create(`later-${step}`);
    }
    const late = await next(first.metadata.continue);
    assert.deepEqual([late.status, late.body.reason, Object.keys(late.body.metadata)], [410, "Expired", ["continue"]]);
    assert.match(
      late.body.message,
      /^The provided continue parameter is too old to display a consistent list result\./,
    );
    const rest = (await next(late.body.metadata.continue)).body;
    assert.deepEqual([rest.items[0].metadata.name, rest.metadata.remainingItemCount], ["b", 14]);
    const further = (await next(rest.metadata.continue)).body;
    assert.deepEqual(
      [further.items[0].metadata.name, further.metadata.resourceVersion],
      ["b2", rest.metadata.resourceVersion],
    );

    const exact = await client.send({ path: `${maps}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact` });
    assert.deepEqual([exact.status, exact.body.reason], [410, "Expired"]);
    assert.equal(exact.body.message, "The resourceVersion for the provided list is too old.");
    assert.deepEqual(exact.body.metadata, {});
    for (const accept of ["application/json", table]) {
      const expired = await sendAndAdvance({
        path: `${maps}?watch=1&resourceVersion=${resourceVersion}`,
        headers: { accept },
      });
      const [event, ...others] = eventsOf(expired);
      assert.deepEqual(
        [expired.status, event?.type, event?.object.reason, event?.object.code, others],
        [200, "ERROR", "Expired", 410, []],
      );
      assert.match(event?.object.message, /^too old resource version: \d+ \(\d+\)$/);
    }
  });
});

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
function eventsOf({ text }: Answer): { type: string; object: any }[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** How a reader records a list whose revision is compacted between two chunks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Http2Client } from "../../support/http2-client.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { list } from "./readers.ts";
import { type Answered, type View, views } from "./views.ts";
import { World } from "./world.ts";

const object = (namespace: string, name: string, revision: number): Answered => ({
  metadata: { namespace, name, uid: name, resourceVersion: String(revision) },
  data: { token: name },
});
const page = (revision: number, items: readonly Answered[], token?: string): Answered => ({
  status: 200,
  body: {
    metadata: { resourceVersion: String(revision), ...(token && { continue: token, remainingItemCount: 1 }) },
    items,
  },
});

test("the rest of a compacted list begins after the last object, also if it is not the model's", async () => {
  const answers = [
    page(12, [object("b", "n8", 11), object("kube-system", "trust", 3)], "one"),
    { status: 410, body: { message: "gone", metadata: { continue: "two" } } },
    page(14, [object("kube-system", "use", 4)]),
  ];
  const client = { send: async () => answers.shift() } as unknown as Http2Client;
  const world = new World({ clients: [client], connections: [], clock: manualClock(), seed: 1, operationsMax: 0 });
  world.answered = 12;
  // The second mode: the first chunk of the newest state.
  await list(world, (below) => (below === 11 ? 1 : below === 20 ? 1 : 0), 0, views[0] as View);
  assert.deepEqual(world.problems, []);
  assert.deepEqual(
    world.listed.map(({ revision, after, until, items }) => [revision, after, until, items]),
    [
      [12, "", "b/n8", ["b/n8@11"]],
      [14, "kube-system/trust", undefined, []],
    ],
  );
});

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { openGraph } from "./graph.ts";
import { KindFollowers } from "./kind-followers.ts";

const { registry, close } = await openMemoryRegistry();
after(close);
const ignore = (): void => {};
const logger = { info: ignore, warn: ignore, error: ignore };

test("follows no kinds after a stop", async () => {
  const requests: string[] = [];
  const followers = new KindFollowers({
    registry,
    logger,
    graph: openGraph(ignore),
    requestSweep: (part) => requests.push(part),
  });
  followers.stop();
  assert.equal(await followers.catchUp(), false, "the graph is not known to be as new as the store");
  await followers.firstListsDone();
  assert.deepEqual(requests, []);
});

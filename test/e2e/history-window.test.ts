/**
 * A small history window, which tests of a client's 410 handling need, on all storage engines. The
 * tests set the clock. `src/storage/etcd/compactor.test.ts` tests the compaction of etcd.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Clock, systemClock } from "../../src/apimachinery/clock.ts";
import type { RunningServer } from "../../src/index.ts";
import { type Http2Answer, http2Client, type WatchEvent } from "../support/http2-client.ts";
import { manualClock } from "../support/manual-clock.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { engines } from "../support/test-engine.ts";
import { until } from "../support/until.ts";

const maps = "/api/v1/namespaces/default/configmaps";
/** Requests take less than half of it. */
const windowMs = 120_000;
const tooOldList = "The resourceVersion for the provided list is too old.";

async function send(server: RunningServer, line: string, body?: object): Promise<Http2Answer> {
  const client = http2Client(server.kubeconfig);
  const answer = await client.send(line, body);
  client.close();
  return answer;
}

/** The first event of a watch. */
function firstEvent(server: RunningServer, query: string, path = maps): Promise<WatchEvent> {
  const client = http2Client(server.kubeconfig);
  return new Promise((resolve) => {
    const stop = client.watch(`${path}?watch=1&${query}`, (event) => {
      stop();
      client.close();
      resolve(event);
    });
  });
}

const create = (server: RunningServer, name: string): Promise<Http2Answer> =>
  send(server, `POST ${maps}`, { metadata: { name } });

/**
 * @returns the results of a list at exactly the revision, of the next chunk of a list, and of a
 * watch from the revision
 */
async function readFrom(server: RunningServer, revision: string, token: string): Promise<string[]> {
  const exact = await send(server, `GET ${maps}?resourceVersion=${revision}&resourceVersionMatch=Exact`);
  const rest = await send(server, `GET ${maps}?limit=1&continue=${token}`);
  const { type, object } = await firstEvent(server, `resourceVersion=${revision}`);
  return [
    exact.status === 200 ? "list" : `${exact.status} ${exact.body.message}`,
    rest.status === 200 ? "chunk" : `${rest.status} ${rest.body.reason}`,
    type === "ERROR" ? `${object.code} ${object.message.replace(/\d+/g, "N")}` : type,
  ];
}

const within = ["list", "chunk", "ADDED"];
const beyond = [`410 ${tooOldList}`, "410 Expired", "410 too old resource version: N (N)"];

/** A clock that runs, and jumps: connections to etcd need time that passes. */
function shiftedClock(): Clock & { advance(ms: number): void } {
  let shiftMs = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + shiftMs,
    advance(ms) {
      shiftMs += ms;
    },
  };
}

for (const [storage, skip] of engines)
  describe(`history window of the ${storage} storage`, { skip }, () => {
    test("answers 410 for revisions that were superseded before the window, and to lists also for the newest", async (t) => {
      const clock = shiftedClock();
      const server = await startTestServer({ storage, controllers: [], clock, historyMs: windowMs });
      t.after(() => server.close());
      for (const name of ["a", "b"]) await create(server, name);
      const { resourceVersion: ofEvents } = (await send(server, "GET /api/v1/events")).body.metadata;
      const idle = (await send(server, `GET ${maps}?limit=1`)).body.metadata.continue;
      clock.advance(windowMs);
      assert.deepEqual(
        (await send(server, `GET ${maps}?limit=1&continue=${idle}`)).status,
        410,
        "nothing was written since",
      );
      const chunk = await send(server, `GET ${maps}?limit=1`);
      const { resourceVersion, continue: token } = chunk.body.metadata;
      const { resourceVersion: newest } = (await create(server, "c")).body.metadata;
      clock.advance(windowMs / 2);
      assert.deepEqual(await readFrom(server, resourceVersion, token), within);
      clock.advance(windowMs / 2);
      assert.deepEqual(await readFrom(server, resourceVersion, token), beyond);
      const expired = await send(server, `GET ${maps}?limit=1&continue=${token}`);
      assert.match(
        expired.body.message,
        /^The provided continue parameter is too old to display a consistent list result\./,
      );
      const inconsistent = await send(server, `GET ${maps}?continue=${expired.body.metadata.continue}`);
      const names = inconsistent.body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
      assert.deepEqual(names, ["b", "c"]);
      clock.advance(3_600_000);
      assert.equal(
        (await send(server, `GET ${maps}?resourceVersion=${newest}&resourceVersionMatch=Exact`)).status,
        410,
      );
      const { object } = await firstEvent(server, `resourceVersion=${ofEvents}`, "/api/v1/events");
      assert.equal(`${object.code} ${object.message}`, "410 The resourceVersion for the provided watch is too old.");
      const watched = firstEvent(server, `resourceVersion=${newest}`);
      await create(server, "d");
      assert.equal((await watched).type, "ADDED");
    });
  });

for (const storage of ["memory", "lmdb"] as const)
  describe(`compaction of the ${storage} storage`, () => {
    test("with a compaction interval, answers 410 for exact reads of revisions older than the interval, and still serves watches from the watch cache", async (t) => {
      const clock = manualClock(Date.now());
      const server = await startTestServer({
        storage,
        controllers: [],
        clock,
        historyMs: Number.POSITIVE_INFINITY,
        compactionIntervalMs: 1000,
      });
      t.after(() => server.close());
      await send(server, `GET ${maps}`);
      const { resourceVersion: first } = (await create(server, "e")).body.metadata;
      await create(server, "f");
      const exact = async (): Promise<number> =>
        (await send(server, `GET ${maps}?resourceVersion=${first}&resourceVersionMatch=Exact`)).status;
      assert.equal(await exact(), 200);
      clock.advance(1000);
      assert.equal(await exact(), 200, "the first interval only remembers the revision");
      clock.advance(1000);
      await until(async () => assert.equal(await exact(), 410));
      assert.equal((await firstEvent(server, `resourceVersion=${first}`)).type, "ADDED");
    });
  });

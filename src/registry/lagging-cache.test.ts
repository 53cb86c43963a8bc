/** Writes at a server whose watch cache lags behind the store that another server writes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiAnswer, send } from "../../test/support/api-client.ts";
import { manualClock } from "../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { turnsUntil } from "../../test/support/pass-turns.ts";
import { remoteStorage } from "../../test/support/remote-storage.ts";

const maps = "/api/v1/namespaces/n/configmaps";
const named = (value: string, finalizers: readonly string[] = []): object => ({
  metadata: { name: "a", ...(finalizers.length > 0 && { finalizers }) },
  data: { value },
});

interface Fixture {
  readonly current: MemoryRegistry;
  /** Sends a request to the server that lags. */
  sendLate(line: string, body?: object): Promise<ApiAnswer>;
  stopLog(): void;
}

async function fixture(): Promise<Fixture> {
  const current = await openMemoryRegistry();
  await current.create(["/namespaces", ""], { metadata: { name: "n" } });
  const { storage, stopLog } = remoteStorage(current.registry.storage);
  const clock = manualClock();
  const { registry } = await openMemoryRegistry({ storage, clock });
  return {
    current,
    stopLog,
    async sendLate(line, body) {
      let done = false;
      const answer = send(registry, line, body).finally(() => {
        done = true;
      });
      await turnsUntil(() => {
        if (!done) clock.advance(1_000);
        return done;
      });
      return answer;
    },
  };
}

test("a dry run of an update is made on the current state", async () => {
  const { current, sendLate, stopLog } = await fixture();
  await send(current.registry, `POST ${maps}`, named("1"));
  await sendLate(`GET ${maps}/a`);
  stopLog();
  const { body } = await send(current.registry, `PUT ${maps}/a`, { ...named("1"), binaryData: { b: "eA==" } });
  const answer = await sendLate(`MERGE ${maps}/a?dryRun=All`, { data: { value: "2" } });
  assert.deepEqual(answer.body.binaryData, { b: "eA==" });
  assert.equal(answer.body.metadata.resourceVersion, body.metadata.resourceVersion);
});

test("deletes an object that was created again after the deletion that the cache shows", async () => {
  const { current, sendLate, stopLog } = await fixture();
  await send(current.registry, `POST ${maps}`, named("1", ["example.com/f"]));
  await send(current.registry, `DELETE ${maps}/a`);
  const seen = await sendLate(`GET ${maps}/a`);
  assert.ok(seen.body.metadata.deletionTimestamp !== undefined);
  stopLog();
  await send(current.registry, `MERGE ${maps}/a`, { metadata: { finalizers: null } });
  assert.equal((await send(current.registry, `POST ${maps}`, named("2"))).status, 201);
  assert.equal((await sendLate(`DELETE ${maps}/a`)).status, 200);
  assert.equal((await send(current.registry, `GET ${maps}/a`)).status, 404);
});

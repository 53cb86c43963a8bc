/** A server whose storage cannot write: the answers to clients and health checks, and the log. */
import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServerWithClient } from "../support/server-with-client.ts";

const dataDir = mkdtempSync(join(tmpdir(), "coxswain-write-faults-"));
const configMaps = "/api/v1/namespaces/default/configmaps";
const logged: string[] = [];
const log = (message: string, values: Record<string, unknown> = {}): void =>
  void (/the store/.test(message) && logged.push(`${message} ${values.reason ?? ""}`));
const { client } = await startServerWithClient({
  dataDir,
  storage: "lmdb",
  durability: "relaxed",
  securePort: 0,
  livezGracePeriodMs: 0,
  logger: { info: log, warn: log, error: log },
});
after(() => rmSync(dataDir, { recursive: true, force: true }));

const create = (name: string) => client.send({ method: "POST", path: configMaps, body: { metadata: { name } } });
const status = async (path: string): Promise<number> => (await client.send({ method: "GET", path })).status;

test("answers 503 to writes, serves reads, fails readiness and logs once while the storage directory is missing", async () => {
  assert.equal((await create("before")).status, 201);
  assert.deepEqual([await status("/readyz"), await status("/livez")], [200, 200]);
  renameSync(join(dataDir, "storage"), join(dataDir, "moved"));
  for (const name of ["during", "during", "again"]) {
    const answer = await create(name);
    const { reason, message } = answer.body as { reason: string; message: string };
    assert.deepEqual([answer.status, reason], [503, "ServiceUnavailable"]);
    assert.match(message, /the write could not be made durable: the file of the store was removed or renamed/);
  }
  assert.deepEqual(
    [await status(`${configMaps}/before`), await status(`${configMaps}/during`), await status(configMaps)],
    [200, 404, 200],
  );
  assert.deepEqual(
    [await status("/readyz"), await status("/readyz/etcd-readiness"), await status("/livez"), await status("/metrics")],
    [500, 500, 200, 200],
  );
  assert.deepEqual(logged, ["Writes to the store fail the file of the store was removed or renamed"]);
});

test("becomes ready when the directory is back, without a write of a client", async () => {
  renameSync(join(dataDir, "moved"), join(dataDir, "storage"));
  assert.deepEqual([await status("/readyz"), (await create("after")).status], [200, 201]);
  assert.equal(logged.at(-1), "Writes to the store work again ");
  assert.equal(logged.length, 2);
});

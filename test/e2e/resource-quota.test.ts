/**
 * Quotas with many clients at once, on all engines and with a process that is killed. Guarantees:
 * - concurrent creates store as many objects as the quota allows;
 * - after kill -9 during writes, the usage is that of the stored objects, also without a controller;
 * - what was deleted before the kill is given back after the next start.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { startServer } from "../../src/index.ts";
import { main } from "../support/program.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { engines, openTestEngine } from "../support/test-engine.ts";
import { until } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-quota-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const core = "/api/v1/namespaces/n";
const maps = `${core}/configmaps`;

/** Creates a namespace with a quota, and waits for its status. */
async function setUp(client: RawClient, limit: number): Promise<void> {
  await client.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "n" } } });
  const body = { metadata: { name: "q" }, spec: { hard: { "count/configmaps": String(limit) } } };
  await client.send({ method: "POST", path: `${core}/resourcequotas`, body });
  await until(async () => (await used(client)) !== undefined);
}

async function used(client: RawClient): Promise<number | undefined> {
  const { body } = await client.send({ path: `${core}/resourcequotas/q` });
  const found = (body as { status?: { used?: Record<string, string> } }).status?.used?.["count/configmaps"];
  return found === undefined ? undefined : Number(found);
}

async function stored(client: RawClient): Promise<number> {
  return ((await client.send({ path: maps })).body as { items: unknown[] }).items.length;
}

const create = async (client: RawClient, name: string): Promise<number> =>
  (await client.send({ method: "POST", path: maps, body: { metadata: { name } } })).status;

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const [creates, limit] = isFull ? [200, 150] : [60, 45];

for (const [storage, skip] of engines)
  describe(`quotas with ${storage} storage`, { skip }, () => {
    test(`${creates} concurrent creates store as many objects as the quota allows`, async () => {
      const engine = await openTestEngine(storage);
      const options = { ...engine.options, durability: "full", controllers: ["resourcequota-controller"] } as const;
      const server = await startServer(options);
      const clients = Array.from({ length: 4 }, () => rawClient(server.kubeconfig));
      const [first] = clients as [RawClient];
      await setUp(first, limit);
      const before = await used(first);
      assert.equal(before, 0);
      const statuses = await Promise.all(
        Array.from({ length: creates }, (_none, index) => create(clients[index % 4] as RawClient, `m${index}`)),
      );
      assert.deepEqual(
        [201, 403].map((code) => statuses.filter((status) => status === code).length),
        [limit, creates - limit],
      );
      assert.deepEqual([await used(first), await stored(first)], [limit, limit]);
      for (const client of clients) client.close();
      await server.close();
      await engine.close();
    });
  });

const rounds = isFull ? 20 : 1;

interface Started {
  readonly child: ChildProcess;
  readonly client: RawClient;
}

async function start(dataDirectory: string, controllers: string): Promise<Started> {
  const flags = ["--data-dir", dataDirectory, "--secure-port=0", `--controllers=${controllers}`];
  const child = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  const kubeconfig = join(dataDirectory, "kubeconfig");
  child.stdout.on("data", (piece: Buffer) => {
    output += piece.toString();
  });
  while (!output.includes(kubeconfig)) await once(child.stdout, "data");
  return { child, client: rawClient(readFileSync(kubeconfig, "utf8")) };
}

async function kill({ child, client }: Started): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  client.close();
}

test(`after kill -9 during writes the usage is exact (SEED=${seed})`, { timeout: 240_000 }, async () => {
  const random = seededRandom(seed);
  const dataDirectory = join(directory, "killed");
  let started = await start(dataDirectory, "resourcequota-controller");
  await setUp(started.client, 100);
  for (let round = 0; round < rounds; round++) {
    await killDuringWrites(started, round, random);
    // No controller runs: what was charged is what was stored, except for deletions.
    started = await start(dataDirectory, "");
    const [charged, present] = [await used(started.client), await stored(started.client)];
    assert.ok(present <= 100 && charged !== undefined && charged >= present, `${charged} used, ${present} stored`);
    await kill(started);
    started = await start(dataDirectory, "resourcequota-controller");
    await until(async () => (await used(started.client)) === (await stored(started.client)));
  }
  await kill(started);
});

/** Kills the process after a random number of answers. */
async function killDuringWrites(started: Started, round: number, random: (below: number) => number): Promise<void> {
  const { client, child } = started;
  const answersMax = 20 + random(100);
  let answers = 0;
  const write = async (): Promise<void> => {
    while (answers < answersMax) {
      const name = `m${round}-${random(60)}`;
      if (random(4) === 0) await client.send({ method: "DELETE", path: `${maps}/${name}` });
      else await create(client, name);
      if (++answers === answersMax) child.kill("SIGKILL");
    }
  };
  const exited = once(child, "exit");
  await Promise.allSettled(Array.from({ length: 16 }, write)); // Requests fail when the process is killed.
  await exited;
  client.close();
}

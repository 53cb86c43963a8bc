/**
 * Forks and restores in one process, again and again. Guarantees: what a closed fork had is released, also when it was
 * forked itself; the heap does not grow with the number of forks or restores; the process has no open handle afterwards,
 * and ends by itself. COXSWAIN_TEST_FULL=1: 10,000 cycles of each.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { kit } from "../../support/program.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const cycles = isFull ? 10_000 : 6;
/** Samples of the heap at equal distances. The least of a third is compared, because single ones are higher. */
const samples = isFull ? 12 : 6;
/** From the second third to the last, in which the engine still collects some feedback about the code. */
const growthMaxMiB = isFull ? 1 : 4;

/** One cycle of each. */
const kinds: readonly [what: string, cycle: string][] = [
  ["forks that are discarded", "const fork = await server.fork(); await use(fork); await fork.close(); return fork;"],
  [
    "forks of forks, the older of which are discarded",
    "const fork = await newest.fork(); await use(fork); if (newest !== server) await newest.close(); newest = fork; return fork;",
  ],
  ["restores", "await use(server); await server.restore(snapshot); return {};"],
];

/** Kinds that share a process; in the full size, each has its own. */
const groups = isFull ? kinds.map((kind) => [kind]) : [kinds];

const script = (cycles: readonly string[]): string => `
import { writeSync } from "node:fs";
import { getHeapSpaceStatistics } from "node:v8";
import { configMap, startTestServer } from ${JSON.stringify(kit)};

const maps = "/api/v1/namespaces/default/configmaps";
const server = await startTestServer();
await use(server);
const snapshot = await server.snapshot();
let newest = server;

async function use(one) {
  for (const [path, method, body] of [[maps, "POST", configMap("a")], [maps + "/a", "DELETE"]])
    await (await one.fetch(path, { method, ...(body && { body }) })).text();
}
/** Without compiled code, which the engine makes and discards at any time. */
async function heapMiB() {
  for (let round = 0; round < ${isFull ? 3 : 2}; round++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    gc();
  }
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !/code|trusted/.test(space_name));
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0) / 2 ** 20;
}

const count = Number(process.argv[1]);
async function repeat(cycle) {
  const watched = [];
  const heaps = [];
  for (let index = 1; index <= count; index++) {
    watched.push(new WeakRef(await cycle()));
    if (watched.length > 20) watched.shift();
    if (index % Math.floor(count / ${samples}) === 0) heaps.push(await heapMiB());
  }
  const third = ${samples} / 3;
  const growthMiB = Math.min(...heaps.slice(2 * third)) - Math.min(...heaps.slice(third, 2 * third));
  const alive = watched.slice(0, -2).filter((one) => one.deref() !== undefined).length;
  if (newest !== server) await newest.close();
  newest = server;
  return { growthMiB, heaps, alive };
}

const results = [];
for (const cycle of [${cycles.map((cycle) => `async () => { ${cycle} }`).join(", ")}]) results.push(await repeat(cycle));
const rssMiB = process.memoryUsage.rss() / 2 ** 20;
await server.close();
process.on("exit", () => writeSync(1, JSON.stringify({ results, rssMiB, resources: process.getActiveResourcesInfo() })));
`;

for (const group of groups) {
  test(`${cycles} cycles of ${group.map(([what]) => what).join(", and of ")} leave nothing behind`, (context) => {
    const args = ["--expose-gc", "--input-type=module", "-e", script(group.map(([, cycle]) => cycle)), String(cycles)];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    context.diagnostic(stdout.trim());
    const { results, resources } = JSON.parse(stdout);
    // Servers have no pipes: this is a standard stream of the process.
    const open = resources.filter((resource: string) => resource !== "PipeWrap");
    assert.deepEqual(open, []);
    assert.equal(results.length, group.length);
    for (const { growthMiB, alive } of results) {
      assert.equal(alive, 0);
      assert.ok(growthMiB < growthMaxMiB, `the heap has grown by ${growthMiB} MiB`);
    }
  });
}

/**
 * For start-test-kit.ts: measures the test kit in this process and prints the figures as JSON.
 * `node test-kit-process.ts FILE speed|forks|servers`, where FILE is the module of the kit.
 */
import { pathToFileURL } from "node:url";
import type { TestServer } from "../src/testing/index.ts";

type Kit = typeof import("../src/testing/index.ts");

const objects = 10_000;
const concurrency = 16;
/** Servers and forks of which the median is taken. */
const samples = 20;
const fewChanges = 100;
/** Restores of few changes; one restore has as many changes as there are objects. */
const restores = 5;
const manyServers = 200;
const configMaps = "/api/v1/namespaces/default/configmaps";

const [, , file = "", what] = process.argv;
const [importMs, kit] = await time<Kit>(() => import(pathToFileURL(file).href));
console.log(JSON.stringify(what === "speed" ? await speed() : await many(what === "forks")));

async function speed() {
  const [firstMs, server] = await time(() => kit.startTestServer());
  const further = await startAndClose(() => kit.startTestServer());
  await writeAll(server, objects, "POST");
  const forks = await startAndClose(() => server.fork());
  const [snapshotMs, snapshot] = await time(() => server.snapshot());
  const restoreMs = async (changes: number): Promise<number> => {
    await writeAll(server, changes, "PUT");
    return (await time(() => server.restore(snapshot)))[0];
  };
  const few = [];
  for (let at = 0; at < restores; at++) few.push(await restoreMs(fewChanges));
  const all = await restoreMs(objects);
  const [closeMs] = await time(() => server.close());
  return { importMs, firstMs, further, forks, snapshotMs, restoreMs: { few, all }, closeMs };
}

/** @returns the resident memory with many servers open that have answered a request */
async function many(areForks: boolean) {
  const first = await kit.startTestServer();
  const open = [first];
  while (open.length < manyServers) open.push(await (areForks ? first.fork() : kit.startTestServer()));
  for (const server of open) await (await server.fetch("/readyz")).text();
  const rssMiB = process.memoryUsage.rss() / 2 ** 20;
  for (const server of open) await server.close();
  return { rssMiB };
}

async function startAndClose(start: () => Promise<TestServer>) {
  const [startMs, closeMs]: [number[], number[]] = [[], []];
  for (let at = 0; at < samples; at++) {
    const [ms, server] = await time(start);
    startMs.push(ms);
    closeMs.push((await time(() => server.close()))[0]);
  }
  return { startMs, closeMs };
}

/** Creates or replaces as many ConfigMaps. */
async function writeAll(server: TestServer, count: number, method: "POST" | "PUT"): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const name = `c${next++}`;
      const path = method === "POST" ? configMaps : `${configMaps}/${name}`;
      const response = await server.fetch(path, {
        method,
        body: kit.configMap(name, { data: { method, x: String(Math.random()) } }),
      });
      if (!response.ok) throw new Error(`${method} of ${name}: ${await response.text()}`);
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
}

async function time<T>(run: () => T | Promise<T>): Promise<[ms: number, value: T]> {
  const from = performance.now();
  const value = await run();
  return [performance.now() - from, value];
}

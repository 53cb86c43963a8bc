/**
 * Measures whether memory grows during repeated creates, updates, patches, reads, watches and deletions, without a
 * collection of garbage before a figure is read, and what a get and a list cost meanwhile.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild, type Usage } from "../child.ts";
import { BenchClient, type Target } from "../client.ts";

const concurrency = 16;
const watchers = 5;
const lists = 4;
/** After so many rounds, caches and recent events have their size. */
const warmRounds = 3;
const collection = "/api/v1/namespaces/default/configmaps";
const payload = "x".repeat(1024);

/** What one round has cost and left. */
interface Round {
  /** While all objects exist, after everything but their deletion. */
  readonly full: Usage;
  /** After their deletion. */
  readonly end: Usage;
  readonly getMs: number;
  readonly listMs: number;
  /** The serialized objects, and all versions of them that were stored. */
  readonly objectMiB: number;
  readonly storedMiB: number;
}

type Show = (what: string, measured: string, goal?: string) => void;

/** Prints the memory after each of so many rounds, and the last one in relation to the third. */
export async function roundsBench(objects: number, rounds = 20): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-rounds-"));
  await memoryOfRounds(join(directory, "data"), objects, rounds, (what, measured, goal = "") =>
    console.log(`${what.padEnd(46)} ${measured}${goal === "" ? "" : `   goal: at most ${goal}`}`),
  );
  rmSync(directory, { recursive: true, force: true });
}

/** @param data the directory of the server, which it creates */
export async function memoryOfRounds(data: string, objects: number, count: number, show: Show): Promise<void> {
  const child = await startChild(new URL("../server-coxswain.ts", import.meta.url), [data]);
  const client = new BenchClient(child.ready as unknown as Target);
  const rounds: Round[] = [];
  let firstFileMiB = 0;
  for (let round = 0; round < count; round++) {
    rounds.push(await runRound(child, client, objects, String(round)));
    if (round === 0) firstFileMiB = statSync(join(data, "storage", "data.mdb")).size / (1 << 20);
  }
  const liveMiB = await child.liveMiB();
  client.close();
  await child.stop();
  const last = rounds.at(-1) as Round;
  const { storedMiB } = rounds[0] as Round;
  const row = (values: readonly number[]): string => {
    const warm = values[Math.min(warmRounds, count) - 1] as number;
    return `${values.map((value) => value.toFixed(0)).join(" ")}: ${((values.at(-1) as number) / warm).toFixed(2)} ×`;
  };
  show(`RssAnon after rounds of ${objects}, MiB`, row(rounds.map(({ end }) => end.rssAnonMiB)), "1.05 ×");
  show("… while the objects exist", row(rounds.map(({ full }) => full.rssAnonMiB)), "1.05 ×");
  show("… in use after the last one", liveMiB.toFixed(0));
  show("RssFile, with pages of the store's file", row(rounds.map(({ end }) => end.rssFileMiB)));
  show(
    "resident with all objects",
    `${last.full.rssMiB.toFixed(0)} MiB`,
    `${(last.objectMiB * 1.5 + 130).toFixed(0)} MiB`,
  );
  // Later rounds are longer than the history window.
  show(
    "file of the store after the first round",
    `${(firstFileMiB / storedMiB).toFixed(2)} × what was stored`,
    "2.5 ×",
  );
  show("get, list in the last round", `${last.getMs.toFixed(3)} ms, ${last.listMs.toFixed(1)} ms of CPU`);
}

async function runRound(child: Child, client: BenchClient, objects: number, round: string): Promise<Round> {
  const object = (index: number, extra: string): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `cm-${index}`, labels: { app: "bench" } },
      data: { payload, extra },
    });
  const streams = Array.from({ length: watchers }, () => client.follow(`${collection}?watch=1`, () => {}));
  const named = (index: number): string => `${collection}/cm-${index}`;
  const run = (
    method: string,
    path: (index: number) => string,
    status: number,
    body?: (index: number) => string,
    contentType?: string,
  ): Promise<void> =>
    client.run(
      objects,
      concurrency,
      (i) => ({
        method,
        path: path(i),
        ...(body !== undefined && { body: body(i) }),
        ...(contentType !== undefined && { contentType }),
      }),
      status,
    );
  await run(
    "POST",
    () => collection,
    201,
    (i) => object(i, ""),
  );
  await run("PUT", named, 200, (i) => object(i, round));
  await run("PATCH", named, 200, () => JSON.stringify({ data: { extra: "patched" } }), "application/merge-patch+json");
  const getMs = await cpuOf(child, objects, () => run("GET", named, 200));
  const { bytes } = await client.read(collection);
  const listMs = await cpuOf(child, lists, () => readLists(client));
  await readOtherForms(client);
  const full = await child.usage();
  await run("DELETE", named, 200);
  for (const stream of streams) stream.close();
  const objectMiB = bytes / (1 << 20);
  return { full, end: await child.usage(), getMs, listMs, objectMiB, storedMiB: objectMiB * 3 };
}

async function readLists(client: BenchClient): Promise<void> {
  for (let list = 0; list < lists; list++) await client.read(collection);
}

async function readOtherForms(client: BenchClient): Promise<void> {
  const gzip = { "accept-encoding": "gzip" };
  await client.send({ method: "GET", path: collection, headers: gzip });
  await client.read(collection, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" });
  await client.read(collection, { accept: "application/vnd.kubernetes.protobuf" });
  await client.readPages(`${collection}?limit=500`);
}

/** @returns CPU milliseconds of the server per operation */
async function cpuOf(child: Child, operations: number, run: () => Promise<void>): Promise<number> {
  const before = await child.usage();
  await run();
  return ((await child.usage()).cpuMs - before.cpuMs) / operations;
}

/**
 * Many watches, most of them in another process, which only reads them. The delay of an event is from the moment before its write is sent
 * until a watch in this process has it.
 */
import { type ChildProcess, fork } from "node:child_process";
import type { BenchClient, BenchRequest } from "../client.ts";
import { type ScaleServer, type Show, withServer } from "./contract.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const warmUpSeconds = 5;
const seconds = 20;
/** A connection has at most so many streams. */
const streamsMax = 500;
const goalMs = 100;

interface Watching {
  readonly watchers: number;
  /** Watches whose events are timed. */
  readonly timed: number;
  readonly writesPerSecond: number;
  /** The query of a watch. */
  query(watcher: number): string;
  /** The name of the object that a write changes. */
  object(write: number): string;
}

const nameOf = (index: number): string => `watched-${index}`;

/** 10,000 watches of all ConfigMaps, at 5 writes a second. */
export const watchersOfAll: Watching = {
  watchers: 10_000,
  timed: 100,
  writesPerSecond: 5,
  query: () => "watch=1",
  object: () => nameOf(0),
};

/** 1,000 watches of one object each, at 200 writes a second. */
export const watchersOfOne: Watching = {
  watchers: 1_000,
  timed: 1_000,
  writesPerSecond: 200,
  query: (watcher) => `watch=1&fieldSelector=metadata.name%3D${nameOf(watcher)}`,
  object: (write) => nameOf((write * 7919) % 1_000),
};

export async function manyWatches(show: Show, watching: Watching): Promise<void> {
  await withServer(async (server) => {
    const { client } = server;
    const objects = new Set(Array.from({ length: 1_000 }, (_, write) => watching.object(write)));
    const created = [...objects].map((name) => mapRequest("POST", maps, name, ""));
    await client.run(created.length, 16, (index) => created[index] as BenchRequest, 201);
    const delays = follow(server, watching);
    const others = await readElsewhere(server, watching);
    await write(client, watching, warmUpSeconds);
    delays.length = 0;
    const before = await server.child.usage();
    await write(client, watching, seconds);
    const after = await server.child.usage();
    others?.disconnect();
    const sorted = Float64Array.from(delays).sort();
    const quantile = (part: number): string => `${sorted[Math.floor((sorted.length - 1) * part)]?.toFixed(1)} ms`;
    const events = watching.timed === watching.watchers ? 1 : watching.watchers;
    const cost = ((after.cpuMs - before.cpuMs) * 1000) / seconds / watching.writesPerSecond / events;
    show("delay of an event", `p50 ${quantile(0.5)}, p99 ${quantile(0.99)}, max ${quantile(1)}`, `p99 ${goalMs} ms`);
    show("CPU of an event and its write", `${cost.toFixed(1)} µs, loop held ${after.heldMs.toFixed(0)} ms`);
    show("timed events", `${delays.length}`);
  });
}

/** @returns the delays of the timed watches so far, in milliseconds */
function follow({ connect }: ScaleServer, { timed, query }: Watching): number[] {
  const delays: number[] = [];
  let client = connect();
  for (let watcher = 0; watcher < timed; watcher++) {
    if (watcher > 0 && watcher % streamsMax === 0) client = connect();
    client.follow(`${maps}?${query(watcher)}`, (piece) => {
      for (const [, sent] of piece.toString("latin1").matchAll(/"sent":"([\d.]+)"/g))
        delays.push(performance.now() - Number(sent));
    });
  }
  return delays;
}

/** Starts the watches that are not timed. @returns undefined if there are none */
async function readElsewhere(
  { child }: ScaleServer,
  { watchers, timed, query }: Watching,
): Promise<ChildProcess | undefined> {
  if (timed === watchers) return undefined;
  const paths = { path: `${maps}?${query(0)}`, watchers: watchers - timed, streamsMax };
  const reader = fork(new URL("watch-reader.ts", import.meta.url), [
    JSON.stringify(child.ready),
    JSON.stringify(paths),
  ]);
  await new Promise((resolve) => reader.once("message", resolve));
  return reader;
}

/** Writes at the rate, whether earlier writes are answered or not. */
async function write(client: BenchClient, { writesPerSecond, object }: Watching, during: number): Promise<void> {
  const startedAt = performance.now();
  const answers: Promise<unknown>[] = [];
  for (let index = 0; index < during * writesPerSecond; index++) {
    const name = object(index);
    answers.push(client.send(mapRequest("PUT", `${maps}/${name}`, name, String(performance.now()))));
    const due = startedAt + ((index + 1) * 1000) / writesPerSecond - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due)));
  }
  await Promise.all(answers);
  await new Promise((resolve) => setTimeout(resolve, 2 * goalMs)); // For the last events.
}

function mapRequest(method: string, path: string, name: string, sent: string): BenchRequest {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { sent, payload: "x".repeat(200) } };
  return { method, path, body: JSON.stringify(object) };
}

/**
 * `npm run bench -- --watchers 1000`: how long after the answer to a write its event comes. Then that many watchers on 20 connections, 20 events per second.
 * Measures the latency of events and the growth of memory, also while another watcher never reads.
 * Then the same number of watchers that each select the Pods of one node.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";
import { eventDelay } from "./event-delay.ts";

const connections = 20;
const eventsPerSecond = 20;
const seconds = 10;
const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";

interface Delivery {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMsPerEvent: number;
  /** The longest time in which the event loop of the server did nothing else. */
  readonly heldMs: number;
  readonly grownMiB: number;
}

export async function manyWatchers(watchers: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-watchers-"));
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [join(directory, "data")]);
  const target = child.ready as unknown as Target;
  const { p50Ms, p95Ms, later, events } = await eventDelay(target);
  console.log(
    "an event after the answer to its update".padEnd(44),
    `p50 ${p50Ms.toFixed(2)} ms, p95 ${p95Ms.toFixed(2)} ms, ${later} of ${events} later`,
  );
  const clients = Array.from({ length: connections }, () => new BenchClient(target));
  const writer = new BenchClient(target);
  await writer.read(maps);

  const late: number[] = [];
  for (let index = 0; index < watchers; index++) {
    let rest: Buffer = Buffer.alloc(0);
    (clients[index % connections] as BenchClient).follow(`${maps}?watch=1`, (piece) => {
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
        const at = rest.indexOf('"sent":"');
        late.push(performance.now() - Number(rest.toString("latin1", at + 8, at + 28)));
        rest = rest.subarray(end + 1);
      }
    });
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const run = (): Promise<Delivery> => deliver(child, writer, late, watchers);
  await run();
  for (let round = 0; round < 2; round++) {
    show(`one event to each of ${watchers} watchers`, await run());
    const silent = new BenchClient(target);
    silent.follow(`${maps}?watch=1`, () => {}).pause();
    show("the same, while another never reads", await run());
    silent.close();
  }
  for (const client of clients) client.close();

  await nodeWatchers(child, writer, target, watchers);
  writer.close();
  await child.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function deliver(child: Child, writer: BenchClient, late: number[], watchers: number): Promise<Delivery> {
  const events = eventsPerSecond * seconds;
  const payload = "x".repeat(1024);
  const name = `m-${Math.random().toString(36).slice(2)}`;
  const before = await child.usage();
  late.length = 0;
  for (let event = 0; event < events; event++) {
    const sent = performance.now().toFixed(9).padStart(20, "0").slice(0, 20);
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `${name}-${event}` },
      data: { sent, payload },
    };
    void writer.send({ method: "POST", path: maps, body: JSON.stringify(object) });
    await new Promise((resolve) => setTimeout(resolve, 1000 / eventsPerSecond));
  }
  const patience = performance.now() + 30_000;
  while (late.length < events * watchers) {
    if (performance.now() > patience)
      throw new Error(`${events * watchers - late.length} of ${events * watchers} events did not come`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const after = await child.usage();
  const sorted = Float64Array.from(late).sort();
  const quantile = (q: number): number => sorted[Math.floor((sorted.length - 1) * q)] ?? 0;
  return {
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    cpuMsPerEvent: (after.cpuMs - before.cpuMs) / events / watchers,
    heldMs: after.heldMs,
    grownMiB: after.rssAnonMiB - before.rssAnonMiB,
  };
}

/** As kubelets do: each watches the Pods of its node, and an event matches one of them. */
async function nodeWatchers(child: Child, writer: BenchClient, target: Target, watchers: number): Promise<void> {
  const spec = (node: number): object => ({ nodeName: `node-${node}`, containers: [{ name: "c", image: "i" }] });
  const post = (name: string, node: number): { method: string; path: string; body: string } => ({
    method: "POST",
    path: pods,
    body: JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: spec(node) }),
  });
  const creates = 1000;
  const cost = async (round: string): Promise<number> => {
    const before = await child.usage();
    await writer.run(creates, 16, (index) => post(`${round}-${index}`, index % watchers), 201);
    return ((await child.usage()).cpuMs - before.cpuMs) / creates;
  };
  await cost("warm");
  const alone = await cost("alone");
  const clients = Array.from({ length: connections }, () => new BenchClient(target));
  let seen = 0;
  for (let index = 0; index < watchers; index++) {
    const path = `${pods}?watch=1&resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&fieldSelector=spec.nodeName%3Dnode-${index}`;
    (clients[index % connections] as BenchClient).follow(path, () => seen++);
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const watched = await cost("watched");
  console.log(
    `a pod is created, CPU`.padEnd(44),
    `${alone.toFixed(3)} ms; ${watched.toFixed(3)} ms while ${watchers} watch a node each (${seen} of ${creates} events came)`,
  );
  for (const client of clients) client.close();
}

function show(what: string, { p50Ms, p99Ms, cpuMsPerEvent, heldMs, grownMiB }: Delivery): void {
  console.log(
    what.padEnd(44),
    `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, CPU ${(cpuMsPerEvent * 1000).toFixed(2)} µs an event and watcher, loop held ${heldMs.toFixed(0)} ms, memory +${grownMiB.toFixed(0)} MiB`,
  );
}

/** Runs all actors on one server, and then checks what they saw. */
import { type Clock, systemClock } from "../../../src/apimachinery/clock.ts";
import { requestSweepMs } from "../../../src/request/lifetime.ts";
import { http2Client } from "../../support/http2-client.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";
import { startTestServer } from "../../support/start-test-server.ts";
import type { Engine } from "../../support/test-engine.ts";
import { http1Watches, http2Watches } from "../../support/watch-connection.ts";
import { checkWorld } from "./check.ts";
import { inform, keepLog } from "./informers.ts";
import { read } from "./readers.ts";
import { collections, namespaces, views } from "./views.ts";
import { World } from "./world.ts";
import { write } from "./writers.ts";

export interface ModelOptions {
  readonly storage: Engine;
  readonly seed: number;
  readonly operations: number;
  readonly informersPerView: number;
  readonly historyMs: number;
  readonly historyBytesMax: number;
  readonly featureGates?: string;
}

export interface ModelOutcome {
  readonly problems: readonly string[];
  /** How often each operation and observation occurred. */
  readonly counts: Readonly<Record<string, number>>;
}

const clientCount = 3;
const writerCount = 6;
const readerCount = 3;
/** The interval of checks whether the clock must advance for actors to continue. */
const idleMs = 5;
/** The clock advances in jumps, also while a slow disk commits. They end no request: neither by this limit nor by the sweep. */
const requestTimeoutMs = 24 * 60 * 60 * 1000;

/** Requests to etcd take time that the model cannot control. Bookmarks, which it waits for, come sooner. */
const passingClock: ManualClock = {
  now: () => Date.now(),
  after: (delayMs, run) => systemClock.after(delayMs >= 60_000 ? delayMs / 30 : delayMs, run),
  advance() {},
};

export async function runModel(options: ModelOptions): Promise<ModelOutcome> {
  const { storage, seed, operations, informersPerView, historyMs, historyBytesMax, featureGates = "" } = options;
  const clock = storage === "etcd" ? passingClock : manualClock(Date.now());
  const after: Clock["after"] = (delayMs, run) => (delayMs === requestSweepMs ? () => {} : clock.after(delayMs, run));
  const serverClock: Clock = { ...clock, after, real: systemClock };
  const limits = { historyMs, historyBytesMax };
  const server = await startTestServer({ storage, featureGates, clock: serverClock, requestTimeoutMs, ...limits });
  const clients = Array.from({ length: clientCount }, () => http2Client(server.kubeconfig));
  const connections = [
    http2Watches(server.kubeconfig),
    http1Watches(server.kubeconfig),
    http2Watches(server.kubeconfig),
  ];
  const world = new World({ clients, connections, clock, seed, operationsMax: operations });
  const logConnection = http2Watches(server.kubeconfig);
  let before = -1;
  // own wait: the time passes while no operation ends
  const idle = setInterval(() => {
    if (before === world.operations) world.passTime();
    before = world.operations;
  }, idleMs);
  try {
    await prepare(world);
    const logs = collections.map((collection) => keepLog(world, collection, logConnection));
    const informers = Array.from({ length: views.length * informersPerView }, (_, index) =>
      inform(world, 100 + index, index),
    );
    const writers = Array.from({ length: writerCount }, (_, index) => write(world, 1 + index));
    const readers = Array.from({ length: readerCount }, (_, index) => read(world, 50 + index));
    await Promise.all([...writers, ...readers]);
    world.final.resolve(await newestRevision(world));
    const segments = await Promise.all(logs);
    await Promise.all(informers);
    return { problems: checkWorld(world, segments, limits), counts: world.counts };
  } finally {
    clearInterval(idle);
    logConnection.break();
    world.close();
    await server.close();
  }
}

/** Creates the namespaces of the model, with the accounts of their pods. Pods may name nodes that do not exist. */
async function prepare(world: World): Promise<void> {
  const client = world.client(0);
  for (const name of namespaces) {
    await client.send("POST /api/v1/namespaces", { metadata: { name } });
    await client.send(`POST /api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
  }
  world.start = await newestRevision(world);
  world.answered = world.start;
}

/** The revision of a consistent read, which includes all answered writes. */
async function newestRevision(world: World): Promise<number> {
  const { body } = await world.client(0).send("GET /api/v1/configmaps");
  return Number(body.metadata.resourceVersion);
}

/** Snapshots, restores and forks of test servers. */
import type { ServerSnapshot, ServerSnapshots } from "../../server/server.ts";
import type { Snapshot, TestServer } from "../contract.ts";
import { type Opener, rememberServer } from "../open-servers.ts";
import { isTestRunner } from "../runner-limit.ts";
import { toolsOf } from "../tools.ts";
import type { RestoreGate } from "./restore-gate.ts";
import { saveSnapshot } from "./snapshot-file.ts";

/** What is in a snapshot, which only the kit reads. */
const contents = new WeakMap<Snapshot, ServerSnapshot>();

/** Makes a snapshot for tests of one of a server. */
export function snapshotOf(taken: ServerSnapshot): Snapshot {
  const snapshot: Snapshot = {
    resourceVersion: String(taken.state.revision),
    save: (file) => saveSnapshot(file, taken),
  };
  contents.set(snapshot, taken);
  return snapshot;
}

/** @throws TypeError when it was not made by the kit */
export function contentsOf(snapshot: Snapshot): ServerSnapshot {
  const found = contents.get(snapshot);
  if (found === undefined) throw new TypeError("not a snapshot of a test server");
  return found;
}

/**
 * @param snapshots of the server; undefined unless its store is in memory
 * @param gate of the server
 * @param fork starts a server
 */
export function snapshotMethods(
  snapshots: ServerSnapshots | undefined,
  gate: RestoreGate,
  fork: (taken: ServerSnapshot) => Promise<TestServer>,
): Pick<TestServer, "snapshot" | "restore" | "fork"> {
  const inMemory = (): ServerSnapshots => {
    if (snapshots === undefined) throw new Error("only servers whose store is in memory have snapshots and forks");
    return snapshots;
  };
  const forkServer: TestServer["fork"] = async (from) => {
    const opener: Opener = {};
    Error.captureStackTrace(opener, forkServer);
    const now = await inMemory().take();
    if (from === undefined) return opened(await fork(now), opener);
    const taken = contentsOf(from);
    checkOrigin(taken, now);
    return opened(await fork(taken), opener);
  };
  return {
    snapshot: async () => snapshotOf(await inMemory().take()),
    async restore(snapshot) {
      const taken = contentsOf(snapshot);
      await gate.run((steps) => inMemory().restore(taken, steps));
    },
    fork: forkServer,
  };
}

/** @throws Error when two snapshots are of servers with other authorities */
function checkOrigin({ keys }: ServerSnapshot, now: ServerSnapshot): void {
  if (keys.certificates.ca.cert !== now.keys.certificates.ca.cert || keys.lineage !== now.keys.lineage)
    throw new Error("the snapshot is of another server: start a server from it");
}

function opened(fork: TestServer, opener: Opener): TestServer {
  if (isTestRunner()) toolsOf(fork).unref();
  rememberServer(fork, "fork", opener);
  return fork;
}

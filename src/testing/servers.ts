/** The part of the test kit that needs the server. It is loaded with the first server. */
import type { ServerOptions } from "../server/options.ts";
import type { Snapshot, TestServer } from "./contract.ts";
import type { KitOptions } from "./kit.ts";
import { openTestServer } from "./open-test-server.ts";
import * as snapshotFile from "./snapshots/snapshot-file.ts";
import { contentsOf, snapshotOf } from "./snapshots/snapshot-methods.ts";
import { type Beginning, openFrom, startKey } from "./start-states.ts";

export { openTestServer };

/** Options of a server for tests. The store is always in memory, and nothing is written to disk. */
export interface TestServerOptions extends Partial<Omit<ServerOptions, "storage" | "dataDir" | "etcd">>, KitOptions {
  /** What the server begins with: the objects, authorities and credentials of the server that the snapshot is of. */
  readonly snapshot?: Snapshot;
  /**
   * Whether the server starts as `startServer` does, with new authorities and by creating all objects of a start. False by
   * default: a further server of the process begins with what the first one had right after its start, if their options
   * are equal and only values that affect nothing outside of the server. Its certificates and keys are those of the first.
   */
  readonly fullStart?: boolean;
}

/** Starts a server as `startTestServer` does. */
export async function startServer(options: TestServerOptions): Promise<TestServer> {
  const { timeline, control, snapshot, fullStart = false, ...server } = options;
  const kit = { ...(timeline && { timeline }), ...(control !== undefined && { control }) };
  const open = (from: Beginning): Promise<TestServer> => openTestServer(server, kit, from);
  // With other options, the definitions of kinds can differ from those of the cached objects.
  if (snapshot !== undefined) return open({ snapshot: { ...contentsOf(snapshot), caches: new Map() } });
  const key = fullStart ? undefined : startKey(server);
  return key === undefined ? open({}) : openFrom(key, open);
}

/** Reads a snapshot as `loadSnapshot` does. */
export async function readSnapshot(file: string): Promise<Snapshot> {
  return snapshotOf(await snapshotFile.readSnapshot(file));
}

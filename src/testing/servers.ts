/** The part of the test kit that needs the server. It is loaded with the first server. */
import type { Snapshot, TestServer } from "./contract.ts";
import type { TestServerOptions } from "./index.ts";
import { openTestServer } from "./open-test-server.ts";
import * as snapshotFile from "./snapshots/snapshot-file.ts";
import { contentsOf, snapshotOf } from "./snapshots/snapshot-methods.ts";
import { type Beginning, openFrom, startKey } from "./start-states.ts";

export { openTestServer };

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

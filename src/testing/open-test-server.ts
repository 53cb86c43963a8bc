/** Opens the servers of the test kit, and their forks. */
import { silentLogger } from "../apimachinery/logger.ts";
import { defaultOptions } from "../server/default-options.ts";
import type { ServerOptions } from "../server/options.ts";
import { openServer } from "../server/server.ts";
import type { TestServer } from "./contract.ts";
import { type KitOptions, openKit } from "./kit.ts";
import { writeOwnPort } from "./own-port.ts";
import { snapshotMethods } from "./snapshots/snapshot-methods.ts";
import type { Beginning } from "./start-states.ts";
import { openClients } from "./test-clients.ts";

/**
 * @param from what the server begins with
 * @throws Error when an option is not valid, the port is taken, or the data directory is in use by another server
 */
export async function openTestServer(
  some: Partial<ServerOptions>,
  kitOptions: KitOptions,
  from: Beginning = {},
): Promise<TestServer> {
  const { snapshot, isNew = false, clock } = from;
  const options = { ...defaultOptions, logger: silentLogger, ...some, ...(clock && { clock }) };
  const kit = openKit(options, kitOptions);
  const { running, registry, serving, snapshots } = await openServer(options, {
    requests: kit.extension,
    ...(snapshot && { snapshot }),
  });
  if (isNew) await writeOwnPort(registry, running.port);
  const methods = snapshotMethods(snapshots, kit.gate, (taken) =>
    openTestServer({ ...some, securePort: 0 }, kitOptions, { ...from, snapshot: taken, isNew: false }),
  );
  kit.started(snapshots && methods);
  const { clients, close } = openClients(running, serving, options.clock);
  return {
    ...running,
    get servingCertificate() {
      return running.servingCertificate;
    },
    timeline: kit.timeline,
    faults: kit.faults,
    ...clients,
    ...methods,
    close: () => running.close().finally(close),
  };
}

/** Opens the servers of the test kit, and their forks. */
import { silentLogger } from "../apimachinery/logger.ts";
import { defaultOptions } from "../index.ts";
import type { ServerOptions } from "../options.ts";
import type { ServerSnapshot } from "../server.ts";
import type { TestServer } from "./contract.ts";
import { type KitOptions, openKit } from "./kit.ts";
import { snapshotMethods } from "./snapshots/snapshot-methods.ts";
import { openClients } from "./test-clients.ts";

/**
 * @param snapshot what the server begins with; nothing when undefined
 * @throws Error when an option is not valid, the port is taken, or the data directory is in use by another server
 */
export async function openTestServer(
  some: Partial<ServerOptions>,
  kitOptions: KitOptions,
  snapshot?: ServerSnapshot,
): Promise<TestServer> {
  const options = { ...defaultOptions, logger: silentLogger, ...some };
  const kit = openKit(options, kitOptions);
  const { openServer } = await import("../server.ts");
  const { running, serving, snapshots } = await openServer(options, {
    requests: kit.extension,
    ...(snapshot && { snapshot }),
  });
  const methods = snapshotMethods(snapshots, (taken) => openTestServer({ ...some, securePort: 0 }, kitOptions, taken));
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

/** Opens the servers of the test kit, and their forks. */
import { notFound } from "../apimachinery/errors.ts";
import { silentLogger } from "../apimachinery/logger.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { currentObject } from "../registry/current-entry.ts";
import { serverWrite } from "../registry/server-write.ts";
import { update } from "../registry/update.ts";
import { defaultOptions } from "../server/default-options.ts";
import type { ServerOptions } from "../server/options.ts";
import { openServer } from "../server/server.ts";
import type { TestServer } from "./contract.ts";
import { finalizersOf } from "./finalizers.ts";
import { type KitOptions, openKit } from "./kit.ts";
import { forgetServer } from "./open-servers.ts";
import { snapshotMethods } from "./snapshots/snapshot-methods.ts";
import type { Beginning } from "./start-states.ts";
import { openClients } from "./test-clients.ts";
import { keepTools, openTools } from "./tools.ts";

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
  const { running, registry, serving, snapshots, definitionsServed, unref } = await openServer(options, {
    requests: kit.extension,
    ...(snapshot && { snapshot }),
  });
  if (isNew) await writeOwnPort(registry, running.port);
  const methods = snapshotMethods(snapshots, kit.gate, (taken) =>
    openTestServer({ ...some, securePort: 0 }, kitOptions, { ...from, snapshot: taken, isNew: false }),
  );
  const { clients, close } = openClients(running, serving, options.clock);
  const tools = openTools({ fetch: clients.fetch, finalizers: finalizersOf(registry), definitionsServed, unref });
  const { definitions } = registry.catalog;
  kit.started({ snapshots: snapshots && methods, tools, resources: definitions });
  const server: TestServer = {
    ...running,
    get servingCertificate() {
      return running.servingCertificate;
    },
    timeline: kit.timeline,
    faults: kit.faults,
    ...clients,
    ...methods,
    webhook: async (spec, handler) => (await tools.webhooks()).add(spec, handler),
    install: tools.install,
    async close() {
      forgetServer(server, kit.timeline);
      // Requests that wait for a webhook of a test end with its listener.
      await Promise.all([tools.close(), running.close().finally(close)]);
    },
  };
  keepTools(server, tools);
  return server;
}

const [namespace, name] = ["default", "kubernetes"];

/** Replaces the port of the server with whose state this one has begun, if there is a Service. */
async function writeOwnPort(registry: RegistryContext, port: number): Promise<void> {
  const target = registry.catalog.findServed("", "v1", "services");
  if (target === undefined) return; // Disabled by --runtime-config.
  const { definition } = target.resource;
  if ((await currentObject(registry.catalog, definition, namespace, name)) === undefined) return;
  await update(registry, {
    ...serverWrite({ target, namespace, name }),
    next(current) {
      const service = current?.();
      if (service === undefined) throw notFound(definition, name);
      for (const one of service.spec.ports) one.targetPort = port;
      return service;
    },
  });
}

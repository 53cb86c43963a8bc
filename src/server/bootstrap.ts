/** Creates the objects that every store has, and waits until RBAC has read them. */
import { ensureBootState } from "../bootstrap/boot-state.ts";
import { ensureRbacPolicy } from "../bootstrap/rbac/ensure-rbac-policy.ts";
import { ensureFlowControlObjects } from "../flow-control/objects/ensure-objects.ts";
import type { ServerOptions } from "../options.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { ServerMetrics } from "./metrics.ts";
import { type ServerServiceAddresses, serverServiceAddresses } from "./service-addresses.ts";
import type { Settings } from "./settings.ts";
import type { ServerState } from "./state.ts";

interface Needs {
  readonly registry: RegistryContext;
  readonly authorization: ServerAuthorization;
  readonly settings: Settings;
  readonly metrics: ServerMetrics;
  readonly state: Pick<ServerState, "port" | "reached">;
}

/**
 * Creates the missing ones of the objects that every store has, and repairs the addresses of Services.
 *
 * @returns the repair, which goes on
 */
export async function ensureBootObjects(
  options: ServerOptions,
  { registry, settings, authorization: { rbac }, metrics, state: { port, reached } }: Needs,
): Promise<ServerServiceAddresses> {
  const serviceAddresses = serverServiceAddresses(options, { registry, settings, metrics });
  await serviceAddresses.ensureRange();
  await serviceAddresses.repairPorts();
  await ensureBootState(registry, { ...options, port });
  await serviceAddresses.repairAddresses();
  await ensureRbacPolicy(registry);
  await ensureFlowControlObjects(registry);
  await rbac.tried;
  await rbac.reached(await registry.storage.current());
  reached.add("objects");
  return serviceAddresses;
}

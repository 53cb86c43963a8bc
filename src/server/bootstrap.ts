/** Creates the objects that every store has, and waits until RBAC has read them. */
import { ensureBootState } from "../bootstrap/boot-state.ts";
import { ensureDefaultServiceRange } from "../bootstrap/default-service-range.ts";
import { ensureRbacPolicy } from "../bootstrap/rbac/ensure-rbac-policy.ts";
import { ensureFlowControlObjects } from "../flow-control/objects/ensure-objects.ts";
import type { ServerOptions } from "../options.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { advertisedAddress } from "./addresses.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { ServerState } from "./state.ts";

interface Needs {
  readonly registry: RegistryContext;
  readonly authorization: ServerAuthorization;
  readonly state: Pick<ServerState, "port">;
}

/** Creates the missing ones of the objects that every store has. */
export async function ensureBootObjects(
  options: ServerOptions,
  { registry, authorization: { rbac }, state: { port } }: Needs,
): Promise<void> {
  await ensureDefaultServiceRange(registry, options.serviceClusterIpRange);
  await ensureBootState(registry, { ...options, advertiseAddress: advertisedAddress(options), port });
  await ensureRbacPolicy(registry);
  await ensureFlowControlObjects(registry);
  await rbac.tried;
  await rbac.reached(await registry.storage.current());
}

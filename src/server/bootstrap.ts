/** Creates the objects that every store has, and waits until RBAC has read them. */

import { apiServiceOf, builtinApiServices } from "../controllers/api-services/desired-api-services.ts";
import { ensureBootState, systemNamespaces } from "../controllers/bootstrap/boot-state.ts";
import type { BootObject } from "../controllers/bootstrap/ensure-object.ts";
import { ensureRbacPolicy } from "../controllers/bootstrap/rbac/ensure-rbac-policy.ts";
import { seed } from "../controllers/bootstrap/seed.ts";
import { ensureFlowControlObjects } from "../controllers/flow-control/objects/ensure-objects.ts";
import { rootCaConfigMap } from "../controllers/root-ca.ts";
import { defaultServiceAccount } from "../controllers/service-account.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { type ServerServiceAddresses, serverServiceAddresses } from "./service-addresses.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";
import type { Settings } from "./settings.ts";
import type { ServerSnapshot } from "./snapshots.ts";
import type { ServerState } from "./state.ts";

interface Needs {
  readonly registry: RegistryContext;
  readonly authorization: ServerAuthorization;
  readonly settings: Settings;
  readonly metrics: ServerMetrics;
  readonly serving: Pick<ServingSetup, "caBundle">;
  readonly state: Pick<ServerState, "isShared" | "port" | "reached">;
  /** What the store began with: it has the objects that its server had, without those that a client has deleted. */
  readonly snapshot?: ServerSnapshot;
}

/**
 * Creates the missing ones of the objects that every store has, and repairs the addresses of Services, unless the
 * store began with a snapshot.
 *
 * @returns the repair, which goes on
 */
export async function ensureBootObjects(options: ServerOptions, needs: Needs): Promise<ServerServiceAddresses> {
  const { registry, authorization, state } = needs;
  const serviceAddresses = serverServiceAddresses(options, needs);
  if (needs.snapshot === undefined) await createBootObjects(options, needs, serviceAddresses);
  await authorization.rbac.tried;
  await authorization.rbac.reached(await registry.storage.current());
  state.reached.add("objects");
  return serviceAddresses;
}

async function createBootObjects(
  options: ServerOptions,
  needs: Needs,
  serviceAddresses: ServerServiceAddresses,
): Promise<void> {
  const { registry, settings, state } = needs;
  const { isShared, port } = state;
  await serviceAddresses.ensureRange();
  await serviceAddresses.repairPorts();
  const isNew = await ensureBootState(registry, { ...options, port });
  if (isNew && !isShared) await seed(registry, objectsOfNamespaces(needs), "kube-controller-manager");
  await serviceAddresses.repairAddresses();
  await ensureRbacPolicy(registry, { aggregates: settings.controllers.has("clusterrole-aggregation-controller") });
  await ensureFlowControlObjects(registry);
  await seedApiServices(registry);
}

/**
 * What controllers create in each namespace. The first start writes it together; the controllers create what is missing. They may run in another server
 * that shares the store.
 */
function objectsOfNamespaces({ settings: { controllers }, serving: { caBundle } }: Needs): BootObject[] {
  return systemNamespaces.flatMap((namespace) => {
    const place = { group: "", version: "v1", namespace };
    const account = { ...place, resource: "serviceaccounts", object: defaultServiceAccount() };
    const rootCa = { ...place, resource: "configmaps", object: rootCaConfigMap(caBundle) };
    return [
      ...(controllers.has("serviceaccount-controller") ? [account] : []),
      ...(controllers.has("root-ca-certificate-publisher-controller") ? [rootCa] : []),
    ];
  });
}

/** In a new store. Their controller creates missing ones. */
async function seedApiServices(registry: RegistryContext): Promise<void> {
  const place = { group: "apiregistration.k8s.io", version: "v1", resource: "apiservices", namespace: "" };
  if ((await registry.storage.count(`/registry/${place.group}/${place.resource}/`)) > 0) return;
  await seed(
    registry,
    builtinApiServices(registry.catalog).map((desired) => ({ ...place, object: apiServiceOf(desired) })),
  );
}

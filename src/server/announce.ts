/** Lets clients and other servers find this server, which is ready. */
import { ensureObject } from "../controllers/bootstrap/ensure-object.ts";
import {
  type KubernetesServiceController,
  kubernetesServiceController,
} from "../controllers/bootstrap/kubernetes-service/controller.ts";
import { endpointReconciler } from "../controllers/bootstrap/kubernetes-service/reconcilers.ts";
import { kubernetesService } from "../controllers/bootstrap/kubernetes-service/service.ts";
import { identityLease } from "../controllers/server-identity/identity-lease.ts";
import { identityLeaseCollector } from "../controllers/server-identity/lease-collector.ts";
import { peerAddressController, peerRecords } from "../controllers/server-identity/peer-addresses.ts";
import { checkTokenKeys, type TokenKeys, tokenKeysAnnotation } from "../controllers/server-identity/token-keys.ts";
import { storageVersionReport } from "../controllers/storage-versions/report.ts";
import { reportsStorageVersions } from "../controllers/storage-versions/status.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { formatAddress } from "../webhook/connect.ts";
import type { Address } from "../webhook/contract.ts";
import { advertisedAddress } from "./addresses.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";
import { hostnameOf, identityOf, peerAddress } from "./peers.ts";
import type { ServerState } from "./state.ts";

interface Needs {
  readonly registry: RegistryContext;
  /** Undefined if the server has no keys of its own. */
  readonly tokenKeys: TokenKeys | undefined;
  readonly state: ServerState;
  readonly closers: Closers;
}

/**
 * Resolves when the endpoints contain this server, and its Lease exists.
 *
 * @returns the controller of the endpoints
 */
export async function announce(options: ServerOptions, needs: Needs): Promise<KubernetesServiceController> {
  const own = { ...options, advertiseAddress: advertisedAddress(options) }; // Found once, because the system lists all interfaces.
  const [endpoints] = await Promise.all([joinEndpoints(own, needs), startIdentityLease(own, needs)]);
  needs.state.reached.add("identity");
  return endpoints;
}

/** The Lease of this server, and the removal of those of others that have ended. */
async function startIdentityLease(
  options: ServerOptions,
  { registry, tokenKeys: keys, state, closers }: Needs,
): Promise<void> {
  const { logger } = options;
  if (!registry.gates.enabled("APIServerIdentity")) return;
  const address = await joinPeers(options, { registry, state, closers });
  const self = identityOf(options);
  if (state.isShared && keys !== undefined) await checkTokenKeys(registry, { self, keys, logger });
  const lease = identityLease({
    registry,
    logger,
    hostname: hostnameOf(options),
    isShared: state.isShared,
    renewMs: options.identityRenewMs,
    peerAddress: address && formatAddress(address),
    ...(state.isShared && keys !== undefined && { annotations: tokenKeysAnnotation(keys) }),
  });
  if (lease === undefined) return;
  const collector = identityLeaseCollector({ registry, logger });
  closers.add(() => collector.stop());
  closers.add(() => lease.stop());
  state.stopHooks.push(() => lease.stop());
  await lease.start();
  collector.start();
  await reportVersions(options, { registry, state, closers });
}

/** Writes of resources that are not reported yet are rejected meanwhile. */
async function reportVersions(
  options: ServerOptions,
  { registry, state, closers }: Pick<Needs, "registry" | "state" | "closers">,
): Promise<void> {
  if (!reportsStorageVersions(registry)) return;
  const { logger } = options;
  const report = storageVersionReport({ registry, logger, identity: identityOf(options), isShared: state.isShared });
  if (report === undefined) return;
  closers.add(() => report.stop());
  state.pendingVersions = report;
  void report.completed.then(() => {
    state.reached.add("storageVersions");
  });
  await report.start();
}

/**
 * The record of this server's address for others, which must exist before the Lease. No other server reads it in a
 * store that this server has alone.
 *
 * @returns the address; undefined without one, and without the gate
 */
async function joinPeers(
  options: ServerOptions,
  { registry, state, closers }: Omit<Needs, "tokenKeys">,
): Promise<Address | undefined> {
  const { clock, logger } = options;
  if (!registry.gates.enabled("UnknownVersionInteroperabilityProxy")) return undefined;
  const address = peerAddress(options, state);
  const records = peerRecords(registry);
  if (address === undefined || records === undefined || !state.isShared) return address;
  const controller = peerAddressController({ records, identity: identityOf(options), address, clock, logger });
  closers.add(() => controller.stop());
  state.stopHooks.push(() => controller.stop());
  await controller.start();
  return address;
}

async function joinEndpoints(
  options: ServerOptions,
  { registry, state, closers }: Needs,
): Promise<KubernetesServiceController> {
  const { clock, logger } = options;
  const { port } = state;
  const ip = advertisedAddress(options);
  const service = kubernetesService({ ...options, port });
  const controller = kubernetesServiceController({
    reconciler: endpointReconciler(registry, { ...options, ip, port, isShared: state.isShared }),
    ensureService: async () => void (await ensureObject(registry, service)),
    storage: registry.storage,
    clock,
    logger,
  });
  closers.add(() => controller.stop());
  state.stopHooks.push(() => controller.stop());
  await controller.start();
  return controller;
}

/** A registry over the memory store with the built-in kinds, for tests that use its verbs. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createAdmission } from "../../src/admission/chain.ts";
import type { AdmissionPlugin } from "../../src/admission/contract.ts";
import { namespaceLifecycle } from "../../src/admission/plugins/namespace-lifecycle.ts";
import { serviceAddresses } from "../../src/admission/plugins/service-addresses/service-addresses.ts";
import { type Clock, systemClock } from "../../src/apimachinery/clock.ts";
import { type EffectiveVersion, parseEffectiveVersion } from "../../src/apimachinery/effective-version.ts";
import { parseFeatureGates } from "../../src/apimachinery/feature-gates.ts";
import type { KubeObject } from "../../src/apimachinery/object.ts";
import { loopbackUser } from "../../src/apimachinery/system-user.ts";
import { builtinConversions, strategiesWith } from "../../src/apis/index.ts";
import { builtinDefinitions } from "../../src/catalog/builtin-definitions.ts";
import { openCatalog } from "../../src/catalog/catalog.ts";
import type { Catalog, Resolved } from "../../src/catalog/contract.ts";
import { createInstaller } from "../../src/catalog/install.ts";
import type { Strategy } from "../../src/catalog/strategy-contract.ts";
import { ensureDefaultServiceRange } from "../../src/controllers/bootstrap/default-service-range.ts";
import { repairNodePorts } from "../../src/controllers/service-addresses/repair-ports.ts";
import { parseIpRanges } from "../../src/lib/ip-range/ip-range.ts";
import type { PortRange } from "../../src/lib/ip-range/port-range.ts";
import type { RegistryContext, ValidationMismatch, WriteRequest } from "../../src/registry/contract.ts";
import { create } from "../../src/registry/create.ts";
import { type DeleteRequest, deleteOne } from "../../src/registry/delete.ts";
import { update } from "../../src/registry/update.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { openMemoryStorage } from "../../src/storage/memory.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";

export interface MemoryRegistryOptions {
  readonly clock?: Clock;
  /** The value of `--feature-gates`. */
  readonly featureGates?: string;
  /** The value of `--emulated-version`. */
  readonly emulatedVersion?: string;
  /** Groups whose alpha and beta versions are also served. */
  readonly allVersionsOf?: readonly string[];
  /** Those of the built-in kinds by default, with the gates. */
  readonly strategies?: Readonly<Record<string, Strategy>>;
  /** Admission plugins after NamespaceLifecycle. */
  readonly plugins?: (catalog: Catalog) => readonly AdmissionPlugin[];
  /** Allocates addresses and node ports to Services. */
  readonly services?: ServiceOptions;
  /** The store; a new one by default. The caller closes it. */
  readonly storage?: Storage;
}

/** The addresses of Services, as flags of the server. */
export interface ServiceOptions {
  /** `--service-cluster-ip-range`; those of the default ServiceCIDR. */
  readonly ranges: string;
  /** `--service-node-port-range` */
  readonly ports?: PortRange;
  /** The feature gate StrictIPCIDRValidation; on when unset. */
  readonly strict?: boolean;
}

export interface MemoryRegistry {
  readonly registry: RegistryContext;
  /**
   * Differences between declarative and hand-written validation so far; declarative validation must
   * not throw.
   */
  readonly mismatches: (ValidationMismatch & { readonly identifier: string })[];
  /** Sends an object as a client of the storage version does. */
  create(
    place: Place,
    object: Omit<KubeObject, "metadata"> & Pick<KubeObject, "metadata">,
    dryRun?: boolean,
  ): Promise<KubeObject>;
  change(place: Place, name: string, change: (object: KubeObject) => void, subresource?: string): Promise<void>;
  delete(place: Place, name: string, options?: Partial<DeleteRequest["options"]>): Promise<void>;
  find(place: Place, name: string): Promise<KubeObject | undefined>;
  /** @throws AssertionError if there are mismatches */
  close(): Promise<void>;
}

/** A resource, such as `/configmaps` or `apps/deployments`, and a namespace. */
export type Place = readonly [resource: string, namespace: string];

export async function openMemoryRegistry(options: MemoryRegistryOptions = {}): Promise<MemoryRegistry> {
  const { registry, mismatches, close } = await openRegistry(options);
  return {
    registry,
    mismatches,
    close,
    create: async (place, object, dryRun = false) =>
      createObject(registry, requestOf(registry, place, { dryRun }), object),
    change: async (place, name, change, subresource = "") =>
      changeObject(registry, requestOf(registry, place, { name, subresource }), change),
    delete: async (place, name, options = {}) => {
      await deleteOne(registry, { ...requestOf(registry, place, { name }), options: { dryRun: false, ...options } });
    },
    find: (place, name) => findObject(registry, place, name),
  };
}

async function openRegistry({
  clock = systemClock,
  featureGates = "",
  allVersionsOf = [],
  emulatedVersion = "",
  strategies: own,
  plugins = () => [],
  services,
  storage: shared,
}: MemoryRegistryOptions): Promise<Pick<MemoryRegistry, "registry" | "mismatches" | "close">> {
  const storage = shared ?? (await openMemoryStorage(memoryOptions(clock)));
  const { gates } = parseFeatureGates(featureGates, emulated(emulatedVersion));
  const strategies = own ?? strategiesWith({ eventTtlSeconds: 3600, gates });
  const installer = createInstaller({ storageOf: () => storage, clock, gates });
  const served = {
    serves: (group: string, version: string) => allVersionsOf.includes(group) || !/alpha|beta/.test(version),
  };
  const { minCompatible } = gates.version;
  const definitions = builtinDefinitions({ strategies, conversions: builtinConversions, served, minCompatible });
  const catalog = openCatalog(definitions, installer.install);
  const rules = services === undefined ? [] : [addressRule(catalog, () => registry, services)];
  const admission = createAdmission([namespaceLifecycle(catalog), ...plugins(catalog)], rules);
  const mismatches: MemoryRegistry["mismatches"] = [];
  const validation = recordMismatches(mismatches);
  const findDenial = async (): Promise<undefined> => undefined;
  const registry: RegistryContext = {
    ...{ storage, catalog, clock, gates, admission, validation, findDenial },
    random: randomBytes,
  };
  if (services !== undefined) await ensureRanges(registry, services);
  return {
    registry,
    mismatches,
    async close() {
      for (const cache of installer.caches().values()) cache.close();
      if (shared === undefined) await storage.close();
      assert.deepEqual(mismatches, [], "declarative and hand-written validation differ");
    },
  };
}

function emulated(emulatedVersion: string): EffectiveVersion {
  const forward = { emulationForwardCompatible: false, runtimeConfigEmulationForwardCompatible: false };
  return parseEffectiveVersion({ emulatedVersion, ...forward });
}

/** The options of the stores of these tests. */
export const memoryOptions = (clock: Clock): Parameters<typeof openMemoryStorage>[0] => ({
  clock,
  historyMs: 300_000,
  historyBytesMax: 64 << 20,
  valueBytesMax: valueBytesMaxDefault,
});

const defaultPorts: PortRange = { first: 30000, last: 32767 };

function addressRule(
  catalog: Catalog,
  registry: () => RegistryContext,
  { ranges, ports = defaultPorts, strict = true }: ServiceOptions,
): AdmissionPlugin {
  return serviceAddresses({ catalog, registry, ranges: parseIpRanges(ranges) ?? [], portRange: ports, strict });
}

async function ensureRanges(
  registry: RegistryContext,
  { ranges, ports = defaultPorts }: ServiceOptions,
): Promise<void> {
  await ensureDefaultServiceRange(registry, ranges);
  await repairNodePorts({
    registry,
    range: ports,
    leaks: new Map(),
    report: (_service, { note }) => assert.fail(note),
  });
}

function recordMismatches(mismatches: MemoryRegistry["mismatches"]): RegistryContext["validation"] {
  return {
    mismatched: (identifier, found) => void mismatches.push(...found.map((mismatch) => ({ identifier, ...mismatch }))),
    panic(_identifier, error) {
      throw error;
    },
    rejectedUpdate() {},
  };
}

/** Finds a resource at its storage version. */
function resolve({ catalog }: RegistryContext, resource: string): Resolved {
  const [group = "", plural = ""] = resource.split("/");
  const definition = catalog.definitions().find((one) => one.group === group && one.resource === plural);
  return catalog.find(group, definition?.storage?.version ?? "", plural) as Resolved;
}

/** @returns a request for one object of a resource, or for the collection */
export function requestOf(
  registry: RegistryContext,
  [resource, namespace]: Place,
  { name = "", subresource = "", dryRun = false }: { name?: string; subresource?: string; dryRun?: boolean },
): WriteRequest {
  const common = { user: loopbackUser, fieldManager: "test", userAgent: "test", warnings: [] };
  return { target: resolve(registry, resource), namespace, name, subresource, dryRun, ...common };
}

async function createObject(
  registry: RegistryContext,
  request: WriteRequest,
  object: Parameters<MemoryRegistry["create"]>[1],
): Promise<KubeObject> {
  const { resource } = request.target;
  const decode = (): KubeObject => {
    const sent = structuredClone(object) as KubeObject;
    resource.definition.strategy.setDefaults(sent);
    return sent;
  };
  const written = await create(registry, { ...request, decode });
  if ("object" in written) return written.object;
  return resource.store?.decode(written.entry) as KubeObject;
}

async function changeObject(
  registry: RegistryContext,
  request: WriteRequest,
  change: (object: KubeObject) => void,
): Promise<void> {
  const { definition } = request.target.resource;
  const next = (current: (() => KubeObject) | undefined): KubeObject => {
    if (current === undefined) throw new Error(`${definition.resource} ${request.name} does not exist`);
    const object = current();
    change(object);
    definition.strategy.setDefaults(object);
    return object;
  };
  await update(registry, { ...request, next });
}

async function findObject(
  registry: RegistryContext,
  [resource, namespace]: Place,
  name: string,
): Promise<KubeObject | undefined> {
  const { store } = resolve(registry, resource).resource;
  const entry = (await store?.cache.current())?.get(store?.keyOf(namespace, name) ?? "");
  return entry && store?.decode(entry);
}

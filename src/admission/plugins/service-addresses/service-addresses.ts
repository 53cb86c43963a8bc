/**
 * Allocates cluster addresses and node ports to services, as part of admission, because admission
 * can wait and can reject a write. An address is allocated by the creation of its IPAddress, and a
 * port by its bit in the ports in use. Both are committed with the service, so that of all servers
 * over one store only one gets a value, and a service that is not stored keeps nothing.
 */
import type { Catalog, Resource } from "../../../catalog/contract.ts";
import { formatRange, type IpRange } from "../../../lib/ip-range/ip-range.ts";
import type { PortRange } from "../../../lib/ip-range/port-range.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import type { AdmissionPlugin, AllocationObserver } from "../../contract.ts";
import { type Allocation, allocate, release, type Source } from "./allocate.ts";
import { openClusterIps } from "./cluster-ips.ts";
import { commitWith } from "./commit-with.ts";
import { openNodePorts } from "./node-ports.ts";
import { releaseValues, valuesOf } from "./release-values.ts";

interface ServiceAddressesOptions {
  readonly catalog: Catalog;
  /** Exists when the first request arrives. */
  readonly registry: () => RegistryContext;
  /** `--service-cluster-ip-range`: one range, or one of each family. They select the families. */
  readonly ranges: readonly IpRange[];
  /** The feature gate `StrictIPCIDRValidation`. */
  readonly strict: boolean;
  readonly observer?: AllocationObserver;
  /** `--service-node-port-range`; 30000 to 32767 by default. */
  readonly portRange?: PortRange;
}

const defaultPorts: PortRange = { first: 30000, last: 32767 };

/** Creates the plugin, which always runs. */
export function serviceAddresses({
  catalog,
  registry,
  ranges,
  strict,
  observer,
  portRange = defaultPorts,
}: ServiceAddressesOptions): AdmissionPlugin {
  const source: Source = {
    addresses: openClusterIps(catalog, (bytes) => registry().random(bytes)),
    ports: openNodePorts(registry, portRange),
    rules: { families: ranges.map(({ family }) => family), strict },
  };
  observer?.follow(() => ({ addresses: source.addresses.use(), ports: source.ports.use() }));
  /** What the attempts that are not stored yet take. */
  const pending = new WeakMap<AdmissionAttributes, Allocation>();
  return {
    name: "ServiceAddresses",
    mutate(attributes) {
      if (!writesService(attributes)) return;
      const since = performance.now();
      return allocate(attributes, source, observer).then((allocation) => {
        if (attributes.dryRun) return;
        pending.set(attributes, allocation);
        const end = (): void => release(allocation, source);
        attributes.undo.push(end);
        attributes.done.push(end, () => report(allocation, (performance.now() - since) / 1000, observer));
      });
    },
    authorize(attributes) {
      const allocation = pending.get(attributes);
      return allocation && commitWith(registry(), attributes, allocation, source);
    },
    removed(resource, object, ofDeletion) {
      if (!isService(resource)) return;
      const { metadata, spec } = object();
      const { namespace = "", name = "", resourceVersion } = metadata;
      const service = { namespace, name, revision: Number(resourceVersion) };
      return releaseValues(ofDeletion, valuesOf(spec), service, source.ports);
    },
  };
}

/** @param seconds since the allocation began; it is stored now */
function report(
  { addresses, ports, requestedPorts }: Allocation,
  seconds: number,
  observer: AllocationObserver | undefined,
): void {
  for (const { range, requested } of addresses)
    if (range !== undefined)
      observer?.addressAllocated(formatRange(range), requested === undefined ? "dynamic" : "static", seconds);
  for (const port of ports) observer?.portAllocated(requestedPorts.has(port) ? "static" : "dynamic");
}

function isService({ definition: { group, resource } }: Resource): boolean {
  return group === "" && resource === "services";
}

function writesService({ operation, target, subresource }: AdmissionAttributes): boolean {
  return isService(target.resource) && subresource === "" && (operation === "CREATE" || operation === "UPDATE");
}

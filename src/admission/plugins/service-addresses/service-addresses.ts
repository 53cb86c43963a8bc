/**
 * Allocates cluster addresses and node ports to services. A subscription to the watch cache reports
 * which are in use. Allocation is part of admission because admission can wait and can reject a
 * write. Each process allocates independently: two servers that share one storage can allocate the
 * same address.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import type { IpRange } from "../../../lib/ip-range/ip-range.ts";
import type { PortRange } from "../../../lib/ip-range/port-range.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../contract.ts";
import { allocate, type Source } from "./allocate.ts";
import { openServiceAllocations } from "./service-allocations.ts";

interface ServiceAddressesOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** `--service-cluster-ip-range`: one range, or one of each family. */
  readonly ranges: readonly IpRange[];
  /** The feature gate `StrictIPCIDRValidation`. */
  readonly strict: boolean;
  /** `--service-node-port-range`; 30000 to 32767 by default. */
  readonly portRange?: PortRange;
}

const defaultPorts: PortRange = { first: 30000, last: 32767 };

interface ServiceAddresses extends AdmissionPlugin {
  close(): void;
}

/** @returns a plugin that always runs; `close` ends its subscription */
export function openServiceAddresses({
  catalog,
  clock,
  ranges,
  strict,
  portRange = defaultPorts,
}: ServiceAddressesOptions): ServiceAddresses {
  const { start, pools, nodePorts, refresh, close } = openServiceAllocations(catalog, ranges, portRange);
  const rules = { families: ranges.map(({ family }) => family), strict };
  const source = (): Source => ({ pools: pools(), rules, nodePorts, portRange, now: clock.now(), refresh });
  return {
    name: "ServiceAddresses",
    mutate(attributes) {
      if (!writesService(attributes)) return;
      const starting = start();
      return starting === undefined
        ? allocate(attributes, source())
        : starting.then(() => allocate(attributes, source()));
    },
    close,
  };
}

function writesService({ operation, target, subresource }: AdmissionAttributes): boolean {
  const { group, resource } = target.resource.definition;
  return (
    group === "" && resource === "services" && subresource === "" && (operation === "CREATE" || operation === "UPDATE")
  );
}

/**
 * What a ResourceClaim uses: devices by device class, and the extended resources of these classes.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/resource_claims.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { items, type Part } from "../../apis/fields.ts";
import { addQuantities, compareQuantities, type Quantity, subtractQuantities } from "../../lib/quantity/quantity.ts";
import { one } from "./amounts.ts";
import type { Amounts, ClaimRelations, Evaluator } from "./contract.ts";
import { countName } from "./object-counts.ts";
import { isExtendedForQuota, podUsage } from "./pods.ts";

const count = countName("resource.k8s.io", "resourceclaims");
const perClass = ".deviceclass.resource.k8s.io/devices";
const implicit = "requests.deviceclass.resource.kubernetes.io/";
/** Devices that a claim for all devices may get. */
const devicesMax = 32;

interface ClaimOptions {
  readonly clock: Pick<Clock, "now">;
  readonly gates: FeatureGates;
  readonly relations: ClaimRelations;
}

/** Creates the evaluator of resource claims. */
export function resourceClaims({ clock, gates, relations }: ClaimOptions): Evaluator {
  const isExtended = (name: string): boolean =>
    (name.startsWith(implicit) && relations.extendedResourceOf(name.slice(implicit.length)) !== undefined) ||
    (isExtendedForQuota(name) && relations.hasClassFor(name.slice("requests.".length)));
  return {
    handles: ({ subresource }) => subresource === "",
    matches: (name) =>
      name === count || name.endsWith(perClass) || (gates.enabled("DRAExtendedResource") && isExtended(name)),
    usageOf(claim) {
      const usage = devicesOf(claim);
      if (!gates.enabled("DRAExtendedResource")) return usage;
      const pod = relations.podOf(claim);
      const charged = pod === undefined ? new Map<string, Quantity>() : podUsage(pod, clock.now());
      return new Map([...usage, ...extendedUsage(usage, charged, relations)]);
    },
  };
}

function devicesOf({ spec }: KubeObject): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([[count, one]]);
  for (const { firstAvailable, exactly } of items(spec?.devices?.requests)) {
    const requested = items(firstAvailable).length > 0 ? largest(items(firstAvailable)) : exactly && largest([exactly]);
    for (const [name, devices] of requested ?? []) {
      const before = usage.get(name);
      usage.set(name, before === undefined ? devices : addQuantities(before, devices));
    }
  }
  return usage;
}

/** Of alternatives, the largest number of devices for each class. */
function largest(alternatives: readonly Part[]): Map<string, Quantity> {
  const devices = new Map<string, Quantity>();
  for (const { deviceClassName, allocationMode, count: exact } of alternatives) {
    const name = `${deviceClassName}${perClass}`;
    const number = allocationMode === "All" ? devicesMax : allocationMode === "ExactCount" ? (exact ?? 0) : 0;
    const amount: Quantity = { mantissa: BigInt(number), exponent: 0, format: "DecimalSI" };
    const before = devices.get(name);
    if (
      before === undefined ? alternatives.length === 1 || amount.mantissa > 0n : compareQuantities(amount, before) > 0
    )
      devices.set(name, amount);
  }
  return devices;
}

/** Devices as extended resources, except for what the pod of the claim is charged already. */
function extendedUsage(usage: Amounts, charged: Amounts, relations: ClaimRelations): [string, Quantity][] {
  const extended: [string, Quantity][] = [];
  for (const [name, amount] of usage) {
    if (!name.endsWith(perClass) || name.length === perClass.length) continue;
    const deviceClass = name.slice(0, -perClass.length);
    extended.push([`${implicit}${deviceClass}`, amount]);
    const resource = relations.extendedResourceOf(deviceClass);
    if (resource !== undefined) extended.push([`requests.${resource}`, amount]);
  }
  return [...new Map(extended)]
    .map(([name, amount]): [string, Quantity] => {
      const paid = charged.get(name);
      return [name, paid === undefined ? amount : subtractQuantities(amount, paid)];
    })
    .filter(([, amount]) => amount.mantissa > 0n);
}

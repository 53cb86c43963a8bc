/**
 * What a PersistentVolumeClaim uses: storage, in total and by storage class.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/persistent_volume_claims.go.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isWhole } from "../../apis/core/pod/resource-names.ts";
import type { Part } from "../../apis/fields.ts";
import { compareQuantities, integerValue, parseQuantity, type Quantity } from "../../lib/quantity/quantity.ts";
import { one } from "./amounts.ts";
import type { Amounts, Evaluator, ScopeRequirement } from "./contract.ts";
import { selectsValue } from "./scopes.ts";

const count = "count/persistentvolumeclaims";
const claims = "persistentvolumeclaims";
const storage = "requests.storage";
const byClass = ".storageclass.storage.k8s.io/";
const betaClass = "volume.beta.kubernetes.io/storage-class";

/** @returns the evaluator of persistent volume claims */
export const volumeClaims = ({ enabled }: FeatureGates): Evaluator => ({
  // Upstream compares pointers in status updates, which always differ.
  handles: ({ operation, subresource }) => subresource === "" || (subresource === "status" && operation === "UPDATE"),
  matches: (name) =>
    name === count ||
    name === claims ||
    name === storage ||
    name.endsWith(`${byClass}${claims}`) ||
    name.endsWith(`${byClass}${storage}`),
  isInScope: (scope, claim) => enabled("VolumeAttributesClass") && isClaimInScope(scope, claim),
  usageOf: claimUsage,
});

function isClaimInScope(scope: ScopeRequirement, claim: KubeObject): boolean {
  return scope.scopeName === "VolumeAttributesClass" && selectsValue(scope, attributesClasses(claim));
}

/** The classes that the claim requests, has, or is being changed to. */
function attributesClasses({ spec, status }: KubeObject): string[] {
  const names: string[] = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name) => name !== undefined && name !== null && name !== "");
  return [...new Set(names)];
}

function claimUsage({ metadata, spec, status }: KubeObject): Amounts {
  const usage = new Map<string, Quantity>([
    [claims, one],
    [count, one],
  ]);
  const storageClass = metadata.annotations?.[betaClass] ?? spec?.storageClassName ?? "";
  if (storageClass !== "") usage.set(`${storageClass}${byClass}${claims}`, one);
  const amount = storageOf(spec?.resources ?? {}, status ?? {});
  if (amount === undefined) return usage;
  usage.set(storage, amount);
  if (storageClass !== "") usage.set(`${storageClass}${byClass}${storage}`, amount);
  return usage;
}

/** The request, or what is allocated already if that is more; in whole bytes. */
function storageOf({ requests }: Part, { allocatedResources }: Part): Quantity | undefined {
  if (requests?.storage === undefined) return undefined;
  const requested = wholeBytes(parseQuantity(requests.storage));
  if (allocatedResources?.storage === undefined) return requested;
  const allocated = parseQuantity(allocatedResources.storage);
  return compareQuantities(allocated, requested) > 0 ? wholeBytes(allocated) : requested;
}

function wholeBytes(quantity: Quantity): Quantity {
  if (isWhole(quantity)) return quantity;
  return { mantissa: BigInt(integerValue(quantity)), exponent: 0, format: quantity.format };
}

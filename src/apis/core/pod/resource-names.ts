/**
 * Classification of resource names such as `cpu`, `hugepages-2Mi` and `example.com/gpu`.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/helper/helpers.go`.
 */
import { qualifiedNameProblems } from "../../../lib/names/names.ts";
import {
  integerValue,
  milliValue,
  parseQuantity,
  type Quantity,
  QuantityError,
} from "../../../lib/quantity/quantity.ts";

const hugePages = "hugepages-";
const requests = "requests.";
const ownDomain = "kubernetes.io/";

const ofContainers = ["cpu", "memory", "ephemeral-storage"];
const countedObjects = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const standard = [
  ...ofContainers,
  ...ofContainers.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...countedObjects,
  "storage",
  "requests.storage",
];

/** Whether the resource is huge pages of some size. */
export const isHugePages = (name: string): boolean => name.startsWith(hugePages);

export function isStandardResource(name: string): boolean {
  return standard.includes(name) || isHugePages(name) || name.startsWith(`${requests}${hugePages}`);
}

export function isStandardContainerResource(name: string): boolean {
  return ofContainers.includes(name) || isHugePages(name);
}

/** Whether the name has no domain, or one of Kubernetes. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes(ownDomain);
}

/** Whether the name is one of a resource outside of Kubernetes, such as a device. */
export function isExtendedResource(name: string): boolean {
  return (
    !isNativeResource(name) && !name.startsWith(requests) && qualifiedNameProblems(`${requests}${name}`).length === 0
  );
}

/** Whether the limit of the resource may exceed the request. */
export function allowsOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isIntegerResource(name: string): boolean {
  return countedObjects.includes(name) || isExtendedResource(name);
}

export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/** Whether the quantity is a multiple of the page size in the name. */
export function isDivisibleHugePages(name: string, quantity: string): boolean {
  const size = pageSize(name);
  if (size === undefined || size.mantissa <= 0n || !isWhole(size)) return false;
  return BigInt(integerValue(parseQuantity(quantity))) % BigInt(integerValue(size)) === 0n;
}

function pageSize(name: string): Quantity | undefined {
  try {
    return parseQuantity(name.slice(hugePages.length));
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** Whether the quantity, rounded to thousandths, is an integer. */
export function isWhole(quantity: Quantity): boolean {
  if (quantity.exponent >= 0) return true;
  return BigInt(milliValue(quantity)) % 1000n === 0n;
}

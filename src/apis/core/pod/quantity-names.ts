/** What the names of resources (`cpu`, `hugepages-2Mi`, `example.com/gpu`) say. Source: upstream's core helpers. */
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

export const isHugePages = (name: string): boolean => name.startsWith(hugePages);

export function isStandardResource(name: string): boolean {
  return standard.includes(name) || isHugePages(name) || name.startsWith(`${requests}${hugePages}`);
}

export function isStandardContainerResource(name: string): boolean {
  return ofContainers.includes(name) || isHugePages(name);
}

/** Of Kubernetes itself: without a domain, or of one of its own. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes(ownDomain);
}

export function isExtendedResource(name: string): boolean {
  return (
    !isNativeResource(name) && !name.startsWith(requests) && qualifiedNameProblems(`${requests}${name}`).length === 0
  );
}

/** What more of may be promised than there is. */
export function allowsOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isCountedWhole(name: string): boolean {
  return countedObjects.includes(name) || isExtendedResource(name);
}

export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/** Whether so many bytes are whole pages of the size in the name. */
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

/** To the thousandth. */
export function isWhole(quantity: Quantity): boolean {
  if (quantity.exponent >= 0) return true;
  return BigInt(milliValue(quantity)) % 1000n === 0n;
}

/**
 * Finds quickly, in cached bytes, the Services and IPAddresses that belong together, so that only the
 * others are examined.
 */
import { addressManager, familyLabel, familyOf, managedByLabel } from "../../apimachinery/service-addresses.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { IpRange } from "../../lib/ip-range/ip-range.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { hasAddress } from "./cidr-ranges.ts";
import type { AddressRepair } from "./repair-addresses.ts";

// Quotes in JSON strings are escaped, so that a text with quotes before a colon can only be a key.
const listKey = '"clusterIPs":[';
const managed = `"${managedByLabel}":"${addressManager}"`;
const canonicalText = /^[0-9a-f.:]+$/;

/** The values of `clusterIPs`; undefined when one needs a closer look. */
function clusterIpsIn({ json }: Entry): readonly string[] | undefined {
  const start = json.indexOf(listKey, 0, "latin1");
  if (start < 0) return [];
  const end = json.indexOf("]", start, "latin1");
  const texts = JSON.parse(json.toString("utf8", start + listKey.length - 1, end + 1)) as string[];
  if (texts[0] === "None") return [];
  return texts.every((text) => canonicalText.test(text)) ? texts : undefined;
}

/** Whether each address of the Service has an IPAddress that refers to it, in a range. */
export function isServiceRight({ addresses, ranges }: AddressRepair, entry: Entry): boolean {
  return (
    clusterIpsIn(entry)?.every((address) => {
      const found = addresses.cache.latest().get(addresses.keyOf("", address));
      return found !== undefined && isAddressOf(found, address, entry) && isInRange(ranges(), address);
    }) === true
  );
}

const isInRange = (ranges: readonly IpRange[], address: string): boolean =>
  ranges.some((range) => hasAddress(range, address));

function isAddressOf({ json }: Entry, address: string, { index: { namespace, name } }: Entry): boolean {
  const parent = `"parentRef":{"resource":"services","namespace":"${namespace}","name":"${name}"}`;
  const family = `"${familyLabel}":"${familyOf(address)}"`;
  return [parent, family, managed].every((text) => json.indexOf(text, 0, "latin1") >= 0);
}

const parentStart = '"parentRef":{"resource":"services","namespace":"';
const parentPattern = /([^"\\]+)","name":"([^"\\]+)"\}/y;

/** Whether the IPAddress has no manager, or its Service has the address. */
export function isAddressRight(services: ResourceStore, { json, index }: Entry): boolean {
  if (json.indexOf(managed, 0, "latin1") < 0) return true;
  const text = json.toString("utf8");
  const start = text.indexOf(parentStart);
  if (start < 0) return false;
  parentPattern.lastIndex = start + parentStart.length;
  const [, namespace, name] = parentPattern.exec(text) ?? [];
  if (namespace === undefined || name === undefined) return false;
  const service = services.cache.latest().get(services.keyOf(namespace, name));
  return service !== undefined && clusterIpsIn(service)?.includes(index.name) === true;
}

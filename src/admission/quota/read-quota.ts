/**
 * Reads what a ResourceQuota limits, and what is used, from its stored bytes. Each write to an object
 * that a quota concerns changes the quota, but mostly only what is used, which is at the end.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { parseQuantity, type Quantity } from "../../lib/quantity/quantity.ts";
import { parseAmounts } from "./amounts.ts";
import type { Amounts, ScopeRequirement } from "./contract.ts";
import { scopesOf } from "./scopes.ts";

/** The part of a quota that the use of resources does not change. */
export interface QuotaLimits {
  readonly name: string;
  readonly scopes: readonly ScopeRequirement[];
  /** Of the status: limits apply when the controller has copied them. */
  readonly hard: Amounts;
}

/** The state of a quota. */
export interface Quota {
  /** The same object as long as the limits do not change. */
  readonly limits: QuotaLimits;
  /** By resource; undefined until the usage is known. */
  readonly used: Readonly<Record<string, string>> | undefined;
  /** Those of `used` that were parsed; see {@link usedAmount}. */
  readonly parsed: Map<string, Quantity>;
}

/** Reads quotas, and remembers their limits. */
export interface QuotaReader {
  /**
   * @param key of the quota
   * @param json its bytes, as stored or with resourceVersion
   */
  read(key: string, json: Buffer): Quota;
  /** Adds the bytes of a state that was made of one that was read. */
  remember(key: string, json: Buffer, quota: Quota): void;
}

/** Quotas whose limits are remembered; with more, all are read again. */
const quotasMax = 10_000;
const specKey = Buffer.from('"spec":{');
const usedKey = Buffer.from('"used":{');

interface Remembered {
  /** The bytes from the spec to the used resources. */
  readonly bytes: Buffer;
  readonly limits: QuotaLimits;
  /** The last state that was added, to which the next write is charged. */
  added?: { readonly json: Buffer; readonly quota: Quota };
}

/** Creates a reader. */
export function createQuotaReader(): QuotaReader {
  const remembered = new Map<string, Remembered>();
  const limitsAt = (key: string, json: Buffer, usedAt: number): Remembered => {
    const bytes = limitsPart(json, usedAt);
    const found = remembered.get(key);
    if (found?.bytes.equals(bytes) === true) return found;
    if (remembered.size >= quotasMax) remembered.clear();
    const made = { bytes: Buffer.from(bytes), limits: limitsOf(JSON.parse(json.toString())) };
    remembered.set(key, made);
    return made;
  };
  return {
    read(key, json) {
      const added = remembered.get(key)?.added;
      if (added?.json === json) return added.quota;
      const usedAt = json.lastIndexOf(usedKey);
      const { limits } = limitsAt(key, json, usedAt);
      return quotaOf(limits, usedAt < 0 ? undefined : JSON.parse(usedText(json, usedAt)));
    },
    remember(key, json, quota) {
      const found = remembered.get(key);
      if (found !== undefined) found.added = { json, quota };
    },
  };
}

/** Creates the state of a quota with this usage. */
export function quotaOf(limits: QuotaLimits, used: Quota["used"]): Quota {
  return { limits, used, parsed: new Map() };
}

/** Returns what is used of a resource; undefined when that is unknown. */
export function usedAmount({ used, parsed }: Quota, name: string): Quantity | undefined {
  const found = parsed.get(name);
  if (found !== undefined) return found;
  const text = used?.[name];
  if (text === undefined) return undefined;
  const amount = parseQuantity(text);
  parsed.set(name, amount);
  return amount;
}

/** The bytes of a quota that do not change with what is used: from its spec on. */
export function limitsBytes(json: Buffer): Buffer {
  return limitsPart(json, json.lastIndexOf(usedKey));
}

/**
 * Quotes in JSON strings are escaped, so these bytes can only be keys; no other key is `used`.
 * @param usedAt the position of that key; negative if there is none
 */
function limitsPart(json: Buffer, usedAt: number): Buffer {
  const end = usedAt < 0 ? json.length : usedAt;
  return json.subarray(Math.max(json.lastIndexOf(specKey, end), 0), end);
}

/** Names of resources and quantities are ASCII. */
function usedText(json: Buffer, usedAt: number): string {
  return json.toString("latin1", usedAt + usedKey.length - 1, json.length - "}}".length);
}

/** The position after `"used":` in the bytes of a quota; undefined when nothing is used. */
export function usedStart(json: Buffer): number | undefined {
  const at = json.lastIndexOf(usedKey);
  return at < 0 ? undefined : at + usedKey.length - 1;
}

function limitsOf({ metadata, spec, status }: KubeObject): QuotaLimits {
  return { name: metadata.name ?? "", scopes: scopesOf(spec ?? {}), hard: parseAmounts(status?.hard) };
}

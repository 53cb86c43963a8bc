/**
 * Reads what a ResourceQuota limits, and what is used, from its stored bytes. Each write to an object
 * that a quota concerns changes the quota, but mostly only what is used, which is at the end.
 */
import type { KubeObject } from "../apimachinery/object.ts";
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
}

/** Reads quotas, and remembers their limits. */
export interface QuotaReader {
  /**
   * @param key of the quota
   * @param json its bytes, as stored or with resourceVersion
   */
  read(key: string, json: Buffer): Quota;
}

/** Quotas whose limits are remembered; with more, all are read again. */
const quotasMax = 10_000;
const specKey = Buffer.from('"spec":{');
const usedKey = Buffer.from('"used":{');

interface Remembered {
  /** The bytes from the spec to the used resources. */
  readonly bytes: Buffer;
  readonly limits: QuotaLimits;
}

/** Creates a reader. */
export function createQuotaReader(): QuotaReader {
  const remembered = new Map<string, Remembered>();
  return {
    read(key, json) {
      // Quotes in JSON strings are escaped, so these bytes can only be keys; no other key is `used`.
      const usedAt = json.lastIndexOf(usedKey);
      const end = usedAt < 0 ? json.length : usedAt;
      const bytes = json.subarray(Math.max(json.lastIndexOf(specKey, end), 0), end);
      let found = remembered.get(key);
      if (found === undefined || !found.bytes.equals(bytes)) {
        if (remembered.size >= quotasMax) remembered.clear();
        found = { bytes: Buffer.from(bytes), limits: limitsOf(JSON.parse(json.toString())) };
        remembered.set(key, found);
      }
      return { limits: found.limits, used: usedAt < 0 ? undefined : JSON.parse(usedText(json, usedAt)) };
    },
  };
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

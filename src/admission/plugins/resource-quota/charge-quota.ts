/**
 * Adds what a write uses to the status of a quota, in the commit of the write. Most charges replace
 * only the end of the stored bytes: what is used.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Resolved } from "../../../catalog/contract.ts";
import { addQuantities, formatQuantity, type Quantity } from "../../../lib/quantity/quantity.ts";
import type { DerivedValue, JointWrite, Seal, Stored, UpdateStatus } from "../../../registry/joint-change.ts";
import type { Amounts } from "../../quota/contract.ts";
import {
  type Quota,
  type QuotaLimits,
  type QuotaReader,
  quotaOf,
  usedAmount,
  usedStart,
} from "../../quota/read-quota.ts";

/** What a write adds to a quota, decided again when the write is committed. */
export interface PendingCharge {
  readonly key: string;
  /** The limits for which `amounts` was computed. */
  readonly limits: QuotaLimits;
  readonly amounts: Amounts;
  /** Returns what the write adds if the limits have changed; undefined for nothing. */
  again(limits: QuotaLimits): Amounts | undefined;
  /** @throws ApiError when the quota does not permit the amounts */
  check(quota: Quota, amounts: Amounts): void;
}

/** The last bytes of a quota that this server wrote, up to what is used. */
interface Template {
  readonly start: Buffer;
  readonly seal: Seal;
  /** The second in which the fields were written, which their manager records. */
  readonly second: number;
  /** Resources of which this server owns the usage. */
  readonly owned: ReadonlySet<string>;
  /** The last value that was made of it. */
  latest: Buffer;
}

interface ChargeOptions {
  readonly clock: Pick<Clock, "now">;
  readonly reader: QuotaReader;
  readonly target: () => Resolved;
}

/** Quotas with templates; with more, all are made again. */
const templatesMax = 1_000;
const end = Buffer.from("}}");

/** Creates a function that makes charges to joint writes. */
export function quotaCharger({ clock, reader, target }: ChargeOptions): (charge: PendingCharge) => JointWrite {
  const templates = new Map<string, Template>();
  const slowCharge = (key: string, used: Record<string, string>, update: UpdateStatus): DerivedValue => {
    const { value, seal, object } = update((quota) => {
      quota.status = { ...quota.status, used };
    });
    if (templates.size >= templatesMax) templates.clear();
    const second = secondOf(clock);
    const start = value.subarray(0, usedStart(value));
    templates.set(key, { start, seal, second, owned: ownedResources(object), latest: value });
    return { value, seal };
  };
  return (charge) => ({
    target: target(),
    key: charge.key,
    derive(newest, update) {
      const quota = reader.read(charge.key, newest.value);
      const amounts = quota.limits === charge.limits ? charge.amounts : charge.again(quota.limits);
      if (amounts === undefined) return undefined;
      charge.check(quota, amounts);
      const names = namesIn(quota.limits, amounts);
      if (names.length === 0) return undefined;
      const after = chargedBy(quota, names, amounts);
      const template = templates.get(charge.key);
      if (template === undefined || !fits(template, newest, quota, names, secondOf(clock)))
        return slowCharge(charge.key, after.used, update);
      const value = fastCharge(template, after.used);
      reader.remember(charge.key, value, after);
      return { value, seal: template.seal };
    },
  });
}

const secondOf = (clock: Pick<Clock, "now">): number => Math.floor(clock.now() / 1000);

/** The resources that the quota limits. */
function namesIn({ hard }: QuotaLimits, amounts: Amounts): readonly string[] {
  const names: string[] = [];
  for (const name of amounts.keys()) if (hard.has(name)) names.push(name);
  return names;
}

/** The state of the quota after a charge. */
function chargedBy(
  quota: Quota,
  names: readonly string[],
  amounts: Amounts,
): Quota & { readonly used: Record<string, string> } {
  const used: Record<string, string> = { ...quota.used };
  const after = { ...quotaOf(quota.limits, used), used };
  for (const name of names) {
    const amount = amounts.get(name) as Quantity;
    const before = usedAmount(quota, name);
    const sum = before === undefined ? amount : addQuantities(before, amount);
    used[name] = formatQuantity(sum);
    // The format of others depends on the text: 512 is decimal, also as a sum of binary quantities.
    if (sum.format === "DecimalSI") after.parsed.set(name, sum);
  }
  return after;
}

/** Whether only the amounts differ from what this server wrote last. */
function fits(
  { start, second, owned, latest }: Template,
  { value }: Stored,
  { used }: Quota,
  names: readonly string[],
  now: number,
): boolean {
  if (second !== now || (value !== latest && !value.subarray(0, start.length).equals(start))) return false;
  for (const name of names) if (!owned.has(name) || used?.[name] === undefined) return false;
  return true;
}

/** Names and quantities are ASCII, and the names are in order already. */
function fastCharge(template: Template, used: Record<string, string>): Buffer {
  const { start } = template;
  const text = JSON.stringify(used);
  const value = Buffer.allocUnsafeSlow(start.length + text.length + end.length); // Not of the pool: it is kept.
  start.copy(value);
  value.write(text, start.length, "latin1");
  end.copy(value, start.length + text.length);
  template.latest = value;
  return value;
}

/** The resources of which the manager of the server's own writes owns the usage. */
function ownedResources({ metadata }: KubeObject): ReadonlySet<string> {
  const entry = metadata.managedFields?.find(
    ({ manager, operation, subresource }) =>
      manager === "kube-apiserver" && operation === "Update" && subresource === "status",
  );
  const fields = entry?.fieldsV1 as { readonly "f:status"?: { readonly "f:used"?: object } } | undefined;
  return new Set(Object.keys(fields?.["f:status"]?.["f:used"] ?? {}).map((field) => field.slice("f:".length)));
}

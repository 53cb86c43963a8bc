/**
 * Adds what a write uses to the status of a quota, in the commit of the write. Most charges replace
 * only the end of the stored bytes: what is used.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Resolved } from "../../../catalog/contract.ts";
import { addQuantities, formatQuantity, parseQuantity } from "../../../lib/quantity/quantity.ts";
import type { Amounts } from "../../../quota/contract.ts";
import { type Quota, type QuotaLimits, type QuotaReader, usedStart } from "../../../quota/read-quota.ts";
import type { DerivedValue, Seal, Stored } from "../../../storage/contract.ts";
import type { JointWrite, UpdateStatus } from "../../contract.ts";

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
    templates.set(key, { start, seal, second, owned: ownedResources(object) });
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
      const names = [...amounts.keys()].filter((name) => quota.limits.hard.has(name));
      if (names.length === 0) return undefined;
      const used = usedAfter(quota, names, amounts);
      const template = templates.get(charge.key);
      return template !== undefined && fits(template, newest, quota, names, secondOf(clock))
        ? fastCharge(template, used)
        : slowCharge(charge.key, used, update);
    },
  });
}

const secondOf = (clock: Pick<Clock, "now">): number => Math.floor(clock.now() / 1000);

function usedAfter({ used }: Quota, names: readonly string[], amounts: Amounts): Record<string, string> {
  const after: Record<string, string> = { ...used };
  for (const name of names) {
    const amount = amounts.get(name);
    const before = after[name];
    if (amount === undefined) continue;
    after[name] = formatQuantity(before === undefined ? amount : addQuantities(parseQuantity(before), amount));
  }
  return after;
}

/** Whether only the amounts differ from what this server wrote last. */
function fits(
  { start, second, owned }: Template,
  { value }: Stored,
  { used }: Quota,
  names: readonly string[],
  now: number,
): boolean {
  if (second !== now || !value.subarray(0, start.length).equals(start)) return false;
  return names.every((name) => owned.has(name) && used?.[name] !== undefined);
}

/** Names and quantities are ASCII, and the names are in order already. */
function fastCharge({ start, seal }: Template, used: Record<string, string>): DerivedValue {
  const text = JSON.stringify(used);
  const value = Buffer.allocUnsafeSlow(start.length + text.length + end.length); // Not of the pool: it is kept.
  start.copy(value);
  value.write(text, start.length, "latin1");
  end.copy(value, start.length + text.length);
  return { value, seal };
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

/** The limits of a LimitRange, with parsed quantities. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ResourceStore } from "../../../catalog/contract.ts";
import { integerValue, milliValue, parseQuantity, type Quantity } from "../../../lib/quantity/quantity.ts";
import type { Entry } from "../../../watch-cache/contract.ts";

/** The limits of one LimitRange. */
export interface Limits {
  /** The name of the LimitRange. */
  readonly name: string;
  readonly items: readonly LimitItem[];
  /** Defaults for containers: pairs of a resource and its quantity, sorted by resource. */
  readonly defaultRequests: readonly ResourceText[];
  readonly defaultLimits: readonly ResourceText[];
}

type ResourceText = readonly [resource: string, quantity: string];

/** The bounds for one type. */
export interface LimitItem {
  /** `Container`, `Pod`, `PersistentVolumeClaim` or a type without effect. */
  readonly type: string;
  readonly min: readonly Bound[];
  readonly max: readonly Bound[];
  readonly maxRatio: readonly Bound[];
}

/** A bound of one resource. */
export interface Bound {
  readonly resource: string;
  readonly amount: Amount;
}

/** A quantity as LimitRanger compares it: rounded up to integers of 64 bits. */
export interface Amount {
  /** As the user or the sum shows it. */
  readonly quantity: Quantity;
  readonly value: number | bigint;
  readonly milli: number | bigint;
}

/** Converts a quantity for comparisons. */
export function amountOf(quantity: Quantity): Amount {
  return { quantity, value: integerValue(quantity), milli: milliValue(quantity) };
}

/** The amounts of recent texts: most pods use the same few. The oldest is dropped at the limit. */
const knownAmounts = new Map<string, Amount>();
const knownAmountsMax = 500;

/** Parses a quantity for comparisons. */
export function parseAmount(text: string): Amount {
  const known = knownAmounts.get(text);
  if (known !== undefined) return known;
  const amount = amountOf(parseQuantity(text));
  if (knownAmounts.size === knownAmountsMax) knownAmounts.delete(knownAmounts.keys().next().value as string);
  knownAmounts.set(text, amount);
  return amount;
}

/** @returns a function that reads the limits of an entry; it parses each entry once */
export function limitsReader(): (store: ResourceStore, entry: Entry) => Limits {
  const known = new WeakMap<Entry, Limits>();
  return (store, entry) => {
    const limits = known.get(entry) ?? parseLimits(store.decode(entry));
    known.set(entry, limits);
    return limits;
  };
}

function parseLimits({ metadata, spec }: KubeObject): Limits {
  // biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types.
  const items: any[] = spec?.limits ?? [];
  const ofContainers = items.filter(({ type }) => type === "Container");
  const merged = (field: string): ResourceText[] =>
    Object.entries<string>(Object.assign({}, ...ofContainers.map((item) => item[field]))).sort(byName);
  return {
    name: metadata.name ?? "",
    items: items.map(({ type, min, max, maxLimitRequestRatio }) => ({
      type,
      min: parseBounds(min),
      max: parseBounds(max),
      maxRatio: parseBounds(maxLimitRequestRatio),
    })),
    defaultRequests: merged("defaultRequest"),
    defaultLimits: merged("default"),
  };
}

function parseBounds(list: Readonly<Record<string, string>> = {}): Bound[] {
  return Object.entries(list)
    .sort(byName)
    .map(([resource, text]) => ({ resource, amount: parseAmount(text) }));
}

function byName([one]: ResourceText, [other]: ResourceText): number {
  return one < other ? -1 : 1;
}

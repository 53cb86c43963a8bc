/**
 * Checks a write against the quotas of its namespace.
 * Source: `CheckRequest` in k8s.io/apiserver@v0.36.0/pkg/admission/plugin/resourcequota/controller.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { addQuantities, compareQuantities, type Quantity, subtractQuantities } from "../../lib/quantity/quantity.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import { describeAmounts } from "./amounts.ts";
import type { Amounts, Evaluator, QuotaWrite, ScopeRequirement } from "./contract.ts";
import { type Quota, type QuotaLimits, usedAmount } from "./read-quota.ts";
import { describeScopes } from "./scopes.ts";

/** Resources that cannot be used without a quota that covers them. */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  /** Substrings of resource names. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeRequirement[];
}

/** A write that quotas reject. */
export class QuotaRejection extends Error {
  /** Whether it is an error 403; otherwise it is an error of the server, as upstream. */
  readonly isForbidden: boolean;
  constructor(message: string, isForbidden = true) {
    super(message);
    this.isForbidden = isForbidden;
    this.name = "QuotaRejection";
  }
}

/** What a write adds to the usage of a quota. */
export interface Charge {
  readonly quota: Quota;
  /** Not zero; also resources that the quota does not limit. */
  readonly amounts: Amounts;
}

interface CheckedWrite {
  readonly write: QuotaWrite;
  readonly evaluator: Evaluator;
  /** Those of the configuration. */
  readonly limited: readonly LimitedResource[];
  /** Those of `limited` that name the resource of the write. */
  readonly limitedHere: readonly LimitedResource[];
}

/**
 * Returns what the write adds to each quota. Quotas to which it adds nothing are not in the list.
 * @throws QuotaRejection
 */
export function chargesOf(checked: CheckedWrite, quotas: readonly Quota[]): Charge[] {
  const { write, evaluator, limited } = checked;
  const limitedScopes = scopesOfObject(evaluator, limited, write.object);
  if (limitedScopes === undefined) return [];
  const matching = quotas.filter((quota) => isPertinent(quota, write.object, evaluator));
  const usage = usageOf(write.object, evaluator);
  const charges: Charge[] = [];
  for (const quota of matching) {
    const amounts = addedTo(quota.limits, write, evaluator, usage);
    if (amounts.size > 0) charges.push({ quota, amounts });
  }
  const changes = matching.length > 0 ? charges.length > 0 : added(write, evaluator, usage).size > 0;
  if (!changes) return [];
  checkCovered(checked, usage, matching, quotas, limitedScopes);
  return charges;
}

/**
 * Throws when the usage of a quota would be more than its limits.
 * @throws QuotaRejection
 */
export function checkLimits(quota: Quota, amounts: Amounts): void {
  const { limits } = quota;
  let exceeded: string[] | undefined;
  for (const [name, amount] of amounts) {
    const hard = limits.hard.get(name);
    if (hard === undefined) continue;
    const before = usedAmount(quota, name);
    const after = before === undefined ? amount : addQuantities(before, amount);
    if (compareQuantities(after, hard) > 0) exceeded = [...(exceeded ?? []), name];
  }
  if (exceeded === undefined) return;
  const before = new Map<string, Quantity>();
  for (const name of exceeded) {
    const amount = usedAmount(quota, name);
    if (amount !== undefined) before.set(name, amount);
  }
  const names = exceeded;
  const shown = [amounts, before, limits.hard].map((list) => describeAmounts(names, list));
  throw new QuotaRejection(
    `exceeded quota: ${limits.name}, requested: ${shown[0]}, used: ${shown[1]}, limited: ${shown[2]}`,
  );
}

/**
 * Whether the quota limits a resource of the object, which is in its scopes.
 */
export function concerns(limits: QuotaLimits, object: KubeObject, evaluator: Evaluator): boolean {
  for (const name of limits.hard.keys()) if (evaluator.matches(name)) return isInScopes(limits, object, evaluator);
  return false;
}

function isInScopes({ scopes }: QuotaLimits, object: KubeObject, evaluator: Evaluator): boolean {
  for (const scope of scopes) if (!(evaluator.isInScope?.(scope, object) ?? false)) return false;
  return true;
}

/**
 * As {@link concerns}; also checks that the object specifies what the quota limits, and that the
 * usage of the quota is known.
 * @throws QuotaRejection
 */
function isPertinent({ limits, used }: Quota, object: KubeObject, evaluator: Evaluator): boolean {
  const names: string[] = [];
  for (const name of limits.hard.keys()) if (evaluator.matches(name)) names.push(name);
  if (names.length === 0 || !isInScopes(limits, object, evaluator)) return false;
  const missing = evaluator.findMissing?.(names, object);
  if (missing !== undefined) throw new QuotaRejection(`failed quota: ${limits.name}: ${missing}`);
  for (const name of names)
    if (used?.[name] === undefined)
      throw new QuotaRejection(`status unknown for quota: ${limits.name}, resources: ${names.sort().join(",")}`);
  return true;
}

/** @throws QuotaRejection when an amount is negative */
function usageOf(object: KubeObject, evaluator: Evaluator): Amounts {
  const usage = evaluator.usageOf(object);
  let negative: string[] | undefined;
  for (const [name, { mantissa }] of usage) if (mantissa < 0n) negative = [...(negative ?? []), name];
  if (negative === undefined) return usage;
  throw new QuotaRejection(`quota usage is negative for resource(s): ${negative.sort().join(",")}`);
}

/**
 * Returns what the write adds to a quota that concerns its object: on update only the difference,
 * if the quota concerned the object before. Decreases count as zero; the controller gives them back.
 */
export function addedTo(limits: QuotaLimits, write: QuotaWrite, evaluator: Evaluator, usage: Amounts): Amounts {
  const { oldObject } = write;
  if (oldObject === undefined || !concerns(limits, oldObject, evaluator)) return withoutZeros(usage);
  return added(write, evaluator, usage);
}

function added({ oldObject }: QuotaWrite, evaluator: Evaluator, usage: Amounts): Amounts {
  if (oldObject === undefined) return withoutZeros(usage);
  const before = evaluator.usageOf(oldObject);
  const difference = [...usage].map(([name, amount]): [string, Quantity] => {
    const old = before.get(name);
    return [name, old === undefined ? amount : subtractQuantities(amount, old)];
  });
  return new Map(difference.filter(([, { mantissa }]) => mantissa > 0n));
}

function withoutZeros(amounts: Amounts): Amounts {
  for (const { mantissa } of amounts.values())
    if (mantissa === 0n) return new Map([...amounts].filter(([, amount]) => amount.mantissa !== 0n));
  return amounts;
}

const none: readonly ScopeRequirement[] = [];

/** @returns undefined when a scope of the configuration is not valid, which admits every write, as upstream */
function scopesOfObject(
  evaluator: Evaluator,
  limited: readonly LimitedResource[],
  object: KubeObject,
): readonly ScopeRequirement[] | undefined {
  if (limited.length === 0) return none;
  try {
    return limited.flatMap(({ matchScopes }) =>
      matchScopes.filter((scope) => evaluator.isInScope?.(scope, object) ?? false),
    );
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** @throws QuotaRejection when the write uses something that needs a quota, and none covers it */
function checkCovered(
  { write, evaluator, limitedHere }: CheckedWrite,
  usage: Amounts,
  matching: readonly Quota[],
  quotas: readonly Quota[],
  limitedScopes: readonly ScopeRequirement[],
): void {
  if (limitedHere.length === 0 && limitedScopes.length === 0) return;
  const covered = (name: string): boolean =>
    matching.some(({ limits }) => limits.hard.has(name)) && evaluator.matches(name);
  const uncovered = [...usage]
    .filter(([name, { mantissa }]) => mantissa > 0n && isLimited(name, limitedHere) && !covered(name))
    .map(([name]) => name);
  if (uncovered.length > 0) throw new QuotaRejection(`insufficient quota to consume: ${uncovered.sort().join(",")}`);
  const open = limitedScopes.filter(
    ({ scopeName }) =>
      !quotas.some(({ limits }) =>
        limits.scopes.some((scope) => scope.scopeName === scopeName && evaluator.isInScope?.(scope, write.object)),
      ),
  );
  if (open.length > 0)
    throw new QuotaRejection(`insufficient quota to match these scopes: ${describeScopes(open)}`, false);
}

function isLimited(name: string, limited: readonly LimitedResource[]): boolean {
  return limited.some(({ matchContains }) => matchContains.some((part) => name.includes(part)));
}

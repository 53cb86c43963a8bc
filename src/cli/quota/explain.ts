/** What a quota limits, what is used, and by which objects. */

import { leftOf } from "../../admission/quota/amounts.ts";
import { describeScopes, scopesOf } from "../../admission/quota/scopes.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from "../../lib/quantity/quantity.ts";
import type { Measure } from "./measure.ts";

/** An object that a quota counts. */
interface ExplainedObject {
  readonly resource: string;
  readonly name: string;
  readonly amount: string;
}

/** One resource of a quota. */
interface ExplainedResource {
  readonly name: string;
  /** The limit in the spec. */
  readonly hard: string;
  /** Of the status; null while it is unknown. */
  readonly used: string | null;
  /** What more can be used; null while the usage is unknown. */
  readonly left: string | null;
  /** What the objects use together; null if the server has no kind that uses the resource. */
  readonly counted: string | null;
  readonly objects: readonly ExplainedObject[];
  /** Why the status is not up to date; null if it is. */
  readonly problem: string | null;
}

/** An explained quota. */
export interface ExplainedQuota {
  readonly name: string;
  /** As Go prints the requirements; empty for all objects. */
  readonly scopes: string;
  readonly isCurrent: boolean;
  readonly resources: readonly ExplainedResource[];
}

/** Explains a quota with the objects that exist now. */
export async function explainQuota({ metadata, spec, status }: KubeObject, measure: Measure): Promise<ExplainedQuota> {
  const scopes = scopesOf(spec ?? {});
  const resources: ExplainedResource[] = [];
  for (const name of Object.keys(spec?.hard ?? {}).sort()) {
    const objects = await measure(name, scopes);
    const limits = { hard: String(spec.hard[name]), applied: status?.hard?.[name], used: status?.used?.[name] };
    const sum = objects?.reduce((total, { amount }) => addQuantities(total, amount), zeroQuantity);
    resources.push({
      name,
      hard: limits.hard,
      used: limits.used ?? null,
      left:
        limits.used === undefined
          ? null
          : formatQuantity(leftOf(parseQuantity(limits.hard), parseQuantity(limits.used))),
      counted: sum === undefined ? null : formatQuantity(sum),
      objects: (objects ?? []).map((object) => ({ ...object, amount: formatQuantity(object.amount) })),
      problem: problemOf(limits, sum),
    });
  }
  return {
    name: metadata.name ?? "",
    scopes: scopes.length === 0 ? "" : describeScopes(scopes),
    isCurrent: resources.every(({ problem }) => problem === null),
    resources,
  };
}

interface Limits {
  readonly hard: string;
  /** The limit in the status, which applies. */
  readonly applied: string | undefined;
  readonly used: string | undefined;
}

function problemOf({ hard, applied, used }: Limits, counted: Quantity | undefined): string | null {
  if (counted === undefined) return null;
  if (applied === undefined) return "the limit does not apply yet: no controller has written the status";
  if (compareQuantities(parseQuantity(applied), parseQuantity(hard)) !== 0)
    return `the limit ${applied} still applies: no controller has written the new one to the status`;
  if (used === undefined) return "the usage is unknown: writes that use it are rejected";
  if (compareQuantities(parseQuantity(used), counted) !== 0)
    return `the objects use ${formatQuantity(counted)}: the status is not up to date`;
  return null;
}

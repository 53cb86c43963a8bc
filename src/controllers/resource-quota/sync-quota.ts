/**
 * Computes the status of a quota, and writes it if it differs. A write by another client in between
 * makes it compute again, so the status that is stored never misses a charge.
 */

import { formatAmounts, parseAmounts } from "../../admission/quota/amounts.ts";
import type { Amounts } from "../../admission/quota/contract.ts";
import { scopesOf } from "../../admission/quota/scopes.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { compareQuantities } from "../../lib/quantity/quantity.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { update } from "../audited-writes.ts";
import { writesAs } from "../controller-write.ts";
import type { KindsUsage } from "./kinds-usage.ts";

const writes = writesAs("resourcequota-controller");

interface SyncOptions {
  readonly registry: RegistryContext;
  readonly target: Resolved;
  readonly store: ResourceStore;
  readonly kinds: KindsUsage;
}

/** @returns whether all usage could be measured */
export async function syncQuota({ registry, target, store, kinds }: SyncOptions, key: string): Promise<boolean> {
  const entry = await store.cache.currentEntry(key);
  if (entry === undefined) return true;
  const first = await statusOf(kinds, store.decode(entry));
  if (!first.isDirty) return first.isComplete;
  const { namespace, name } = entry.index;
  try {
    await update(registry, {
      ...writes.of(target, namespace, name, "status"),
      async next(current) {
        const quota = current?.() as KubeObject;
        return { ...quota, status: (await statusOf(kinds, quota)).status };
      },
    });
  } catch (error) {
    if (error instanceof ApiError && error.status.reason === "NotFound") return true;
    throw error;
  }
  return first.isComplete;
}

interface Status {
  readonly status: { readonly hard: Record<string, string>; readonly used: Record<string, string> };
  readonly isDirty: boolean;
  readonly isComplete: boolean;
}

async function statusOf(kinds: KindsUsage, { metadata, spec, status }: KubeObject): Promise<Status> {
  const hard = parseAmounts(spec?.hard);
  const limits = { name: "", scopes: scopesOf(spec ?? {}), hard };
  const revision = Number(metadata.resourceVersion);
  const { usage, isComplete } = await kinds.measure(metadata.namespace ?? "", limits, revision);
  const before = parseAmounts(status?.used);
  const used = new Map([...before, ...usage].filter(([name]) => hard.has(name)));
  const isDirty =
    status?.hard === undefined ||
    status.used === undefined ||
    !isSame(hard, parseAmounts(status.hard)) ||
    !isSame(used, before);
  return { status: { hard: formatAmounts(hard), used: formatAmounts(used) }, isDirty, isComplete };
}

function isSame(one: Amounts, other: Amounts): boolean {
  if (one.size !== other.size) return false;
  for (const [name, amount] of one) {
    const found = other.get(name);
    if (found === undefined || compareQuantities(amount, found) !== 0) return false;
  }
  return true;
}

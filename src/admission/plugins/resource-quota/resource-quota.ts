/**
 * The plugin ResourceQuota rejects writes that use more than the quotas of their namespace allow, and
 * adds what others use to the status of the quotas.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/resourcequota.
 */

import type { Clock } from "../../../apimachinery/clock.ts";
import { type ApiError, plainError } from "../../../apimachinery/errors.ts";
import type { FeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { Catalog, Resolved, ResourceStore } from "../../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import {
  addedTo,
  type Charge,
  chargesOf,
  checkLimits,
  concerns,
  type LimitedResource,
  QuotaRejection,
} from "../../quota/check-write.ts";
import { claimRelations } from "../../quota/claim-relations.ts";
import type { Amounts, Evaluator, QuotaWrite } from "../../quota/contract.ts";
import { createEvaluators } from "../../quota/evaluators.ts";
import { createQuotaReader, type Quota, type QuotaReader } from "../../quota/read-quota.ts";
import { rejection } from "../../rejection.ts";
import { type PendingCharge, quotaCharger } from "./charge-quota.ts";
import { addQuotaStep } from "./trace-quota.ts";

interface ResourceQuotaOptions {
  readonly catalog: Pick<Catalog, "find" | "findResource">;
  readonly clock: Pick<Clock, "now">;
  readonly gates: FeatureGates;
  /** Resources that cannot be used without a quota. */
  readonly limited?: readonly LimitedResource[];
}

/** Namespaces whose quotas are kept; with more, all are read again. */
const namespacesMax = 1_000;
/** A commit has a limited number of writes, of which each charge is one. */
const chargesMax = 100;

/** Creates the plugin ResourceQuota. */
export function resourceQuota({ catalog, clock, gates, limited = [] }: ResourceQuotaOptions): AdmissionPlugin {
  const relations = claimRelations(catalog);
  const evaluators = createEvaluators({ clock, gates, relations });
  const reader = createQuotaReader();
  const jointWrite = quotaCharger({
    clock,
    reader,
    target: () => catalog.find("", "v1", "resourcequotas") as Resolved,
  });
  let isLoaded = false;

  const quotasOf = namespaceQuotas(reader);

  const check = (
    attributes: AdmissionAttributes,
    write: QuotaWrite,
    evaluator: Evaluator,
    { keys, quotas }: NamespaceQuotas,
  ): void => {
    const { group, resource } = attributes.target.resource.definition;
    const limitedHere = limited.filter((one) => one.apiGroup === group && one.resource === resource);
    const charges = rejecting(attributes, () => chargesOf({ write, evaluator, limited, limitedHere }, quotas));
    if (charges.length > chargesMax) {
      const why = `${charges.length} quotas of the namespace count it, but a write can be charged to ${chargesMax}`;
      throw rejection(attributes, why);
    }
    for (const charge of charges) {
      if (attributes.trace !== undefined) addQuotaStep(attributes, attributes.trace, charge);
      const key = keys[quotas.indexOf(charge.quota)] as string;
      const pending = pendingCharge(attributes, write, evaluator, key, charge);
      pending.check(charge.quota, charge.amounts);
      if (!attributes.dryRun) attributes.joint.push(jointWrite(pending));
    }
  };

  const validateWith = async (attributes: AdmissionAttributes, store: ResourceStore): Promise<void> => {
    await store.cache.ready();
    isLoaded = true;
    const found = quotasOf(store, attributes.namespace);
    if (found.quotas.length === 0 && limited.length === 0) return;
    const { group, resource } = attributes.target.resource.definition;
    const evaluator = evaluators.of(group, resource);
    const write = writeOf(attributes);
    if (evaluator === undefined || write === undefined || !evaluator.handles(write)) return;
    if (resource === "resourceclaims") await relations.ready();
    check(attributes, write, evaluator, found);
  };

  return {
    name: "ResourceQuota",
    validate(attributes) {
      const { operation, namespace, target } = attributes;
      if (namespace === "" || (operation !== "CREATE" && operation !== "UPDATE")) return;
      const { group, resource } = target.resource.definition;
      if (group === "" && resource === "namespaces") return;
      const store = catalog.findResource("", "resourcequotas")?.store;
      if (store === undefined) return;
      const isUnlimited = isLoaded && limited.length === 0 && quotasOf(store, namespace).quotas.length === 0;
      if (!isUnlimited) return validateWith(attributes, store);
    },
  };
}

interface NamespaceQuotas {
  readonly keys: readonly string[];
  /** In the order of their keys. */
  readonly quotas: readonly Quota[];
}

const noQuotas: NamespaceQuotas = { keys: [], quotas: [] };

/**
 * Creates a function that returns the quotas of a namespace. It reads them once for each state of the
 * watch cache, in whose tree the keys of a namespace are next to each other.
 */
function namespaceQuotas(reader: QuotaReader): (store: ResourceStore, namespace: string) => NamespaceQuotas {
  let state: object | undefined;
  const known = new Map<string, NamespaceQuotas>();
  return ({ cache, keyOf }, namespace) => {
    const snapshot = cache.latest();
    if (snapshot.size === 0) return noQuotas;
    if (snapshot !== state) {
      known.clear();
      state = snapshot;
    }
    const before = known.get(namespace);
    if (before !== undefined) return before;
    const entries = [...snapshot.range(keyOf(namespace, ""))];
    const found = {
      keys: entries.map(({ key }) => key),
      quotas: entries.map(({ key, json }) => reader.read(key, json)),
    };
    if (known.size >= namespacesMax) known.clear();
    known.set(namespace, found);
    return found;
  };
}

function writeOf({ operation, subresource, object, oldObject }: AdmissionAttributes): QuotaWrite | undefined {
  if (object === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return undefined;
  return { operation, subresource, object, oldObject: operation === "CREATE" ? undefined : oldObject };
}

function pendingCharge(
  attributes: AdmissionAttributes,
  write: QuotaWrite,
  evaluator: Evaluator,
  key: string,
  { quota: { limits }, amounts }: Charge,
): PendingCharge {
  return {
    key,
    limits,
    amounts,
    again(changed): Amounts | undefined {
      if (!concerns(changed, write.object, evaluator)) return undefined;
      return addedTo(changed, write, evaluator, evaluator.usageOf(write.object));
    },
    check(quota: Quota, added: Amounts) {
      // The status of a claim reports what was allocated already.
      if (attributes.subresource !== "status") rejecting(attributes, () => checkLimits(quota, added));
    },
  };
}

/** @throws ApiError instead of a QuotaRejection */
function rejecting<T>(attributes: AdmissionAttributes, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof QuotaRejection) throw apiError(attributes, error);
    throw error;
  }
}

function apiError(attributes: AdmissionAttributes, { message, isForbidden }: QuotaRejection): ApiError {
  return isForbidden ? rejection(attributes, message) : plainError(message);
}

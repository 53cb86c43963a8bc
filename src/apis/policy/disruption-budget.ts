/**
 * Checks the disruption budget of a pod before its eviction.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/storage/eviction.go`, `k8s.io/component-helpers@v0.36.0/apps/poddisruptionbudget/helpers.go`.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import { ApiError, forbidden, notFound, plainError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import { addIntegers, setMember } from "../../lib/json/values.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { update } from "../../registry/update.ts";
import { items, type Part, struct } from "../fields.ts";
import { isEmptySelector, selects } from "../label-selector.ts";

/** Evictions that a budget records until its controller has processed them. */
const disruptedPodsMax = 2000;

const budgets = { group: "policy", resource: "poddisruptionbudgets" };
const manager = "kube-apiserver";

interface BudgetAnswer {
  /** Name of the budget; empty when the pod has none. */
  readonly budget: string;
  /** The pod can be evicted because it is not ready, and so was not counted. */
  readonly unready: boolean;
}

/**
 * Takes one disruption from the pod's budget, if it has one.
 * @throws ApiError 403 Forbidden, 429 TooManyRequests, 500 InternalError
 */
export async function askBudget(
  registry: RegistryContext,
  pod: KubeObject,
  { namespace, dryRun }: { readonly namespace: string; readonly dryRun: boolean },
): Promise<BudgetAnswer> {
  const target = registry.catalog.find(budgets.group, "v1", budgets.resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { budget: "", unready: false };
  const found = await budgetsOf(store, pod, namespace);
  if (found.length > 1)
    throw plainError(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  const [first] = found;
  if (first === undefined) return { budget: "", unready: false };
  const { name = "" } = first.metadata;
  if (allowsUnready(first, pod)) return { budget: name, unready: true };
  if (dryRun) takeOne(first, pod, registry.clock.now());
  else {
    const common = {
      target,
      namespace,
      name,
      subresource: "status",
      user: loopbackUser,
      dryRun,
      fieldManager: manager,
      userAgent: manager,
    };
    await update(registry, {
      ...common,
      warnings: [],
      next(current) {
        if (current === undefined) throw notFound(budgets, name);
        const budget = current();
        takeOne(budget, pod, registry.clock.now());
        return budget;
      },
    });
  }
  return { budget: name, unready: false };
}

async function budgetsOf(store: ResourceStore, pod: KubeObject, namespace: string): Promise<KubeObject[]> {
  const all = [...(await store.cache.current()).range(store.keyOf(namespace, ""))].map((entry) => store.decode(entry));
  const labels = pod.metadata.labels ?? {};
  return all.filter(({ spec }) => spec?.selector && (isEmptySelector(spec.selector) || selects(spec.selector, labels)));
}

/**
 * An unready pod can be evicted when the budget's policy is AlwaysAllow, or when enough other pods
 * are healthy.
 */
function allowsUnready({ spec, status = {} }: KubeObject, pod: KubeObject): boolean {
  const ready = items(pod.status?.conditions).some(({ type, status: value }) => type === "Ready" && value === "True");
  if (ready) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return spec.unhealthyPodEvictionPolicy === "AlwaysAllow" || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** @throws ApiError 403, 429 */
function takeOne(budget: KubeObject, pod: KubeObject, now: number): void {
  const status = struct(budget, "status");
  const { name = "", generation = 0 } = budget.metadata;
  const { disruptionsAllowed = 0 } = status;
  if ((status.observedGeneration ?? 0) < generation) throw stillProcessed(name);
  const forbid = (why: string): ApiError => forbidden({ group: "policy", resource: "poddisruptionbudget" }, name, why);
  if (disruptionsAllowed < 0) throw forbid("pdb disruptions allowed is negative");
  const disrupted = struct(status, "disruptedPods");
  if (Object.keys(disrupted).length > disruptedPodsMax) {
    throw forbid("DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (disruptionsAllowed === 0) throw tooManyRequests(whyNone(name, status), 0);
  status.disruptionsAllowed = addIntegers(disruptionsAllowed, -1);
  if (status.disruptionsAllowed === 0) setNoneAllowed(status, now);
  setMember(disrupted, pod.metadata.name as string, formatTime(now));
}

const conditionType = "DisruptionAllowed";

function whyNone(name: string, { conditions, currentHealthy = 0, desiredHealthy = 0 }: Part): string {
  const { status, reason, message = "" } = items(conditions).find(({ type }) => type === conditionType) ?? {};
  const isExplained = status === "False" && message !== "";
  const not = `The disruption budget ${name} does not allow evicting pods currently`;
  if (isExplained && reason === "SyncFailed") return `${not} because it failed sync: ${message}`;
  if (currentHealthy <= desiredHealthy)
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  return isExplained ? `${not} (${reason}): ${message}` : not;
}

function setNoneAllowed(status: Part, now: number): void {
  const conditions = [...items(status.conditions)];
  const at = conditions.findIndex(({ type }) => type === conditionType);
  const known = conditions[at];
  const lastTransitionTime = known?.status === "False" ? known.lastTransitionTime : formatTime(now);
  const { observedGeneration } = status;
  const condition = {
    type: conditionType,
    status: "False",
    observedGeneration,
    lastTransitionTime,
    reason: "InsufficientPods",
    message: "",
  };
  if (known === undefined) conditions.push(condition);
  else conditions[at] = condition;
  status.conditions = conditions;
}

/** The error while the budget's controller has not processed its latest state. */
export function stillProcessed(name: string): ApiError {
  return tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, 10);
}

function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError({
    code: 429,
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: "DisruptionBudget", message }], ...(retryAfterSeconds > 0 && { retryAfterSeconds }) },
  });
}

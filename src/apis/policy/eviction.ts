/** `eviction`: deletes a pod unless its disruption budget forbids it now. Source: the pod registry's eviction storage. */
import { formatTime } from "../../api/clock.ts";
import { ApiError, badRequest, notFound, plainError } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { setMember } from "../../lib/json/values.ts";
import { commitWithRetry } from "../../registry/commit.ts";
import type { DeleteOptions, RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { deleteOne } from "../../registry/delete.ts";
import type { Resource } from "../../resource/contract.ts";
import { items, struct } from "../fields.ts";
import { isEmptySelector, selects } from "../label-selector.ts";

/** Evictions a budget remembers until its controller has seen them. */
const disruptedPodsMax = 2000;

/**
 * @param body a policy/v1 Eviction; its name is the pod's
 * @throws ApiError 400 when it names another pod, 404, 429 when the budget forbids it, 500 when there are two budgets
 */
export async function evictPod(registry: RegistryContext, request: WriteRequest, body: KubeObject): Promise<void> {
  const { namespace, name } = request;
  if ((body.metadata.name ?? name) !== name) throw badRequest("name in URL does not match name in Eviction object");
  const target = registry.catalog.find("", "v1", "pods");
  const store = target?.resource.store;
  const entry = (await store?.cache.current())?.get(store?.keyOf(namespace, name) ?? "");
  if (target === undefined || store === undefined || entry === undefined) throw notFound({ group: "", resource: "pods" }, name);
  const pod = store.decode(entry);
  if (!isDone(pod)) await askBudget(registry, pod, request);
  await deleteOne(registry, { ...request, target, subresource: "", options: deleteOptions(body, request.dryRun) });
}

/** Whom no budget counts. */
function isDone({ metadata, status }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined || ["Pending", "Succeeded", "Failed"].includes(status?.phase);
}

function deleteOptions({ deleteOptions: sent = {} }: KubeObject, dryRun: boolean): DeleteOptions {
  const { gracePeriodSeconds, preconditions, propagationPolicy, orphanDependents } = sent;
  return {
    dryRun,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds: Number(gracePeriodSeconds) }),
    ...(preconditions !== undefined && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(orphanDependents !== undefined && { orphanDependents }),
  };
}

async function askBudget(registry: RegistryContext, pod: KubeObject, { namespace, dryRun }: WriteRequest): Promise<void> {
  const resource = registry.catalog.findResource("policy", "poddisruptionbudgets");
  if (resource === undefined) return;
  const names = await budgetsOf(resource, pod, namespace);
  if (names.length > 1) throw plainError("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  const [name] = names;
  if (name === undefined) return;
  await commitWithRetry(registry, { resource, namespace, name, dryRun }, (existing) => {
    const budget = existing && resource.store?.decode(existing);
    if (budget === undefined) throw notFound({ group: "policy", resource: "poddisruptionbudgets" }, name);
    const counts = !allowsUnready(budget, pod);
    if (counts) takeOne(budget, pod, registry.clock.now());
    return { do: counts ? "put" : "nothing", object: budget };
  });
}

async function budgetsOf({ store }: Resource, pod: KubeObject, namespace: string): Promise<string[]> {
  if (store === undefined) return [];
  const budgets = [...(await store.cache.current()).range(store.keyOf(namespace, ""))].map((entry) => store.decode(entry));
  const labels = pod.metadata.labels ?? {};
  return budgets
    .filter(({ spec }) => spec?.selector && (isEmptySelector(spec.selector) || selects(spec.selector, labels)))
    .map(({ metadata }) => metadata.name as string);
}

/** A pod that is not ready may go when its budget says always, or when enough others are healthy. */
function allowsUnready({ spec, status = {} }: KubeObject, pod: KubeObject): boolean {
  const ready = items(pod.status?.conditions).some(({ type, status: value }) => type === "Ready" && value === "True");
  if (ready) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return spec.unhealthyPodEvictionPolicy === "AlwaysAllow" || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** @throws ApiError 429 */
function takeOne(budget: KubeObject, pod: KubeObject, now: number): void {
  const status = struct(budget, "status");
  const { name = "", generation = 0 } = budget.metadata;
  if ((status.observedGeneration ?? 0) < generation) throw refused(`The disruption budget ${name} is still being processed by the server.`, 10);
  const disrupted = struct(status, "disruptedPods");
  if ((status.disruptionsAllowed ?? 0) <= 0 || Object.keys(disrupted).length > disruptedPodsMax) {
    const { desiredHealthy = 0, currentHealthy = 0 } = status;
    throw refused(`The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`, 0);
  }
  status.disruptionsAllowed -= 1;
  setMember(disrupted, pod.metadata.name as string, formatTime(now));
}

function refused(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError({
    code: 429,
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: "DisruptionBudget", message }], ...(retryAfterSeconds > 0 && { retryAfterSeconds }) },
  });
}

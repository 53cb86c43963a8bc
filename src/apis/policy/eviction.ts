/**
 * The subresource `eviction`: deletes a pod if its disruption budget allows it.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/storage/eviction.go`.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import { ApiError, badRequest, invalid, notFound, plainError } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { commitWithRetry } from "../../registry/commit-with-retry.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { deleteOne } from "../../registry/delete.ts";
import { checkDeleteOptions, type RawDeleteOptions } from "../../registry/delete-options.ts";
import { checkDeletePreconditions } from "../../registry/preconditions.ts";
import { items, type Part, struct } from "../fields.ts";
import { askBudget, stillProcessed } from "./disruption-budget.ts";

/** Retries for a pod without a budget that other clients keep changing. */
const attemptsMax = 20;

/** The resource in errors about pods. */
const pods = { group: "", resource: "pods" };

/**
 * Evicts a pod.
 * @param body a policy Eviction, with the name of the pod
 * @param admit runs the validating admission plugins, after the checks of the body
 * @throws ApiError 400 when it names another pod, 404, 409, 422, 429 when the budget forbids it, 500 when there are two budgets
 */
export async function evictPod(
  registry: RegistryContext,
  request: WriteRequest,
  body: KubeObject,
  admit: () => Promise<void>,
): Promise<void> {
  const { name } = request;
  if (body.metadata.name !== name) throw badRequest("name in URL does not match name in Eviction object");
  const options = deleteOptions(body, request);
  await admit();
  const target = registry.catalog.find(pods.group, "v1", pods.resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) throw notFound(pods, name);
  const eviction: Eviction = { registry, request, target, store, options };
  const pod = await evictUncounted(eviction);
  if (pod === undefined) return;
  const answer = await askBudget(registry, pod, { namespace: request.namespace, dryRun: isDryRun(options) });
  if (!answer.unready) return remove(eviction, options);
  // The pod must be as unready as when the budget was checked.
  await remove(eviction, atVersion(options, pod)).catch((error: unknown) => {
    throw isConflict(error) && namesNoVersion(options) ? stillProcessed(answer.budget) : error;
  });
}

interface Eviction {
  readonly registry: RegistryContext;
  readonly request: WriteRequest;
  /** The resource pods. */
  readonly target: Resolved;
  readonly store: ResourceStore;
  readonly options: RawDeleteOptions;
}

const option = "ignoreStoreReadErrorWithClusterBreakingPotential";

/**
 * Reads the delete options of the body. They or the query may have `dryRun`.
 * @throws ApiError 422, 500
 */
function deleteOptions(body: KubeObject, { name, dryRun }: WriteRequest): RawDeleteOptions {
  const sent: RawDeleteOptions = body.deleteOptions ?? {};
  if (sent[option] === true) {
    const errors = new FieldErrors();
    errors.invalid(`deleteOptions.${option}`, true, "can not be set for pod eviction, try after removing the option");
    throw invalid("policy", "Eviction", name, errors.causes);
  }
  const asked = dryRun ? ["All"] : [];
  const own = sent.dryRun ?? [];
  if (own.length === 0) {
    if (body.deleteOptions !== undefined && dryRun) body.deleteOptions.dryRun = asked; // Webhooks receive it.
    return { ...sent, dryRun: asked };
  }
  if (dryRun && own.join() !== asked.join()) {
    throw plainError(
      `Non-matching dry-run options in request and content: [${asked.join(" ")}] and [${own.join(" ")}]`,
    );
  }
  return sent;
}

const isDryRun = ({ dryRun = [] }: RawDeleteOptions): boolean => dryRun.length > 0;
const namesNoVersion = ({ preconditions }: RawDeleteOptions): boolean => preconditions?.resourceVersion === undefined;
const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status.reason === "Conflict";

function atVersion(options: RawDeleteOptions, { metadata }: KubeObject): RawDeleteOptions {
  const { resourceVersion = "" } = metadata;
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } };
}

/**
 * Deletes the pod if no budget counts it.
 * @returns the pod when a budget must be checked
 * @throws ApiError 404, 409, 422
 */
async function evictUncounted(eviction: Eviction): Promise<KubeObject | undefined> {
  const { store, request, options } = eviction;
  for (let attempts = 1; ; attempts++) {
    const entry = await currentEntry(store, store.keyOf(request.namespace, request.name));
    if (entry === undefined) throw notFound(pods, request.name);
    const pod = store.decode(entry);
    const isDone = pod.metadata.deletionTimestamp !== undefined || ["Succeeded", "Failed"].includes(pod.status?.phase);
    if (!isDone && pod.status?.phase !== "Pending") return pod;
    try {
      // A pending pod could become ready at the same time, and be counted.
      await remove(eviction, !isDone && namesNoVersion(options) ? atVersion(options, pod) : options);
      return undefined;
    } catch (error) {
      if (!isConflict(error) || !namesNoVersion(options) || attempts === attemptsMax) throw error;
    }
  }
}

/**
 * Sets the condition DisruptionTarget, then deletes the pod. The request was admitted as an eviction.
 * @throws ApiError 404, 409, 422
 */
async function remove({ registry, request, target }: Eviction, options: RawDeleteOptions): Promise<void> {
  const dryRun = isDryRun(options);
  let { preconditions } = options;
  if (!dryRun) {
    const { entry } = await commitWithRetry(
      registry,
      { resource: target.resource, ...request, dryRun },
      async (existing) => {
        const pod = existing && target.resource.store?.decode(existing);
        if (pod === undefined) throw notFound(pods, request.name);
        checkDeletePreconditions(target.resource, pod, withoutEmpty(preconditions));
        setDisruptionTarget(pod, registry.clock.now());
        return { do: "put", object: pod };
      },
    );
    if (preconditions?.resourceVersion !== undefined)
      preconditions = { ...preconditions, resourceVersion: String(entry?.revision) };
  }
  const checked = checkDeleteOptions({ ...options, ...(preconditions !== undefined && { preconditions }) });
  await deleteOne(registry, { ...request, target, subresource: "", dryRun, options: checked, admitted: true });
}

function withoutEmpty(
  preconditions: RawDeleteOptions["preconditions"] = {},
): NonNullable<RawDeleteOptions["preconditions"]> {
  const { uid = "", resourceVersion = "" } = preconditions;
  return { ...(uid !== "" && { uid }), ...(resourceVersion !== "" && { resourceVersion }) };
}

function setDisruptionTarget(pod: KubeObject, now: number): void {
  const status = struct(pod, "status");
  const conditions: Part[] = [...items(status.conditions)];
  const at = conditions.findIndex(({ type }) => type === "DisruptionTarget");
  const known = conditions[at];
  const lastTransitionTime = known?.status === "True" ? known.lastTransitionTime : formatTime(now);
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    lastTransitionTime,
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  if (known === undefined) conditions.push(condition);
  else conditions[at] = condition;
  status.conditions = conditions;
}

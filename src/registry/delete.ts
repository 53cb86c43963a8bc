/**
 * Deletes one object: at once, or by setting deletionTimestamp where finalizers or a grace period
 * hold it.
 */
import { formatTime } from "../apimachinery/clock.ts";
import { ApiError, notFound } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { ConvertedVersion, Resource } from "../catalog/contract.ts";
import type { DependentsOptions } from "../catalog/strategy-contract.ts";
import { cloneJson } from "../lib/json/values.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { commitWithRetry, type Step } from "./commit-with-retry.ts";
import type { Deleted, DeleteOptions, RegistryContext, WriteRequest } from "./contract.ts";
import { currentEntry } from "./current-entry.ts";
import { raiseGeneration } from "./keep-fields.ts";
import { checkDeletePreconditions, checkIfMatch } from "./preconditions.ts";
import { admissionAttributes, strategyContext } from "./prepare.ts";
import { storedResource } from "./resource-names.ts";

export interface DeleteRequest extends WriteRequest {
  /** Its `dryRun` is ignored; that of the request applies. */
  readonly options: DeleteOptions;
  /** A resourceVersion, bare or quoted, that the object must have. */
  readonly ifMatch?: string | undefined;
  /** The object is one of a collection. Admission does not see its name in the request. */
  readonly isOfCollection?: boolean;
  /** Skips admission, because the deletion is part of an admitted request. */
  readonly admitted?: boolean;
}

/**
 * Deletes one object.
 * @throws ApiError 403 (admission, protected objects), 404, 409, 500 when a webhook cannot convert
 *   the object
 */
export async function deleteOne(registry: RegistryContext, request: DeleteRequest): Promise<Deleted> {
  const { resource, converted } = request.target;
  const { namespace, name, dryRun, audit, lifetime } = request;
  let [pending, dropsFinalizers] = [false, false];
  warnOfOrphans(request);
  const { step, entry } = await commitWithRetry(
    registry,
    { resource, namespace, name, dryRun, audit, lifetime },
    async (existing) => {
      if (existing === undefined) throw notFound(storedResource(resource), name);
      // An object whose key is lost can be replaced, but not deleted.
      if (registry.storage.keyChange?.(existing.key) !== undefined) await currentEntry(storeOf(resource), existing.key);
      const plan = await planDeletion(registry, request, existing);
      pending = plan.pending;
      dropsFinalizers = plan.dropsFinalizers ?? false;
      return converted === undefined ? plan.step : storable(converted, plan.step, { dryRun });
    },
  );
  if (dryRun) return { kind: "dryRun", object: dropsFinalizers ? undefined : step.object, pending };
  const last = entry as Entry;
  const uid = step.object.metadata.uid ?? "";
  if (step.do === "remove") {
    await afterRemoval(registry, request, last);
    return { kind: "gone", entry: last, uid };
  }
  return pending ? { kind: "pending", entry: last } : removeMarked(registry, request, last, uid);
}

/**
 * Deletes what belongs to a removed object: its companion, and what admission plugins allocated.
 *
 * @param last its last stored state
 */
export async function afterRemoval(
  registry: RegistryContext,
  request: WriteRequest,
  last: Entry | undefined,
): Promise<void> {
  const { resource } = request.target;
  await deleteCompanion(registry, request);
  if (last !== undefined) {
    const object = (): KubeObject => storeOf(resource).decode(last);
    await registry.admission.removed(resource, object, registry);
  }
}

/**
 * Deletes the object that belongs to a removed one: the Endpoints of a Service. Like upstream,
 * ignores rejections.
 */
async function deleteCompanion(registry: RegistryContext, request: WriteRequest): Promise<void> {
  const { companion } = request.target.resource.definition.strategy;
  const target = companion === undefined ? undefined : registry.catalog.find("", "v1", companion);
  if (target === undefined) return;
  try {
    const options = { dryRun: false };
    await deleteOne(registry, {
      ...request,
      target,
      subresource: "",
      user: loopbackUser,
      options,
      admitted: true,
      warnings: [],
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error; // It may not exist, or change concurrently.
  }
}

/**
 * The step with its object at the storage version. An object to remove is converted, too:
 * upstream's store encodes it before it deletes it. A dry run returns the object unconverted.
 * @throws ConversionError
 */
async function storable(
  converted: ConvertedVersion,
  step: Step,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Step> {
  if (step.do === "nothing" || (step.do === "remove" && dryRun)) return step;
  const stored = await converted.stored(cloneJson(step.object));
  return step.do === "remove" || dryRun ? step : { ...step, object: stored };
}

/**
 * For a grace period of zero, the mark is stored first and the object removed next, so that
 * watchers see both.
 */
async function removeMarked(
  registry: RegistryContext,
  request: DeleteRequest,
  marked: Entry,
  uid: string,
): Promise<Deleted> {
  const { resource } = request.target;
  const { namespace, name } = request;
  const remove = async (existing: Entry | undefined): Promise<Step> => {
    const object = storeOf(resource).decode(existing ?? marked);
    const isOurs = existing !== undefined && object.metadata.uid === uid;
    if (isOurs && (object.metadata.finalizers ?? []).length > 0) return { do: "nothing", object };
    if (!isOurs) return { do: "nothing", object: { metadata: {} } }; // Removed by another client.
    if (request.admitted !== true) await admitDeletion(registry, request, object); // Again, as upstream.
    return { do: "remove", object };
  };
  const { step, entry } = await commitWithRetry(registry, { resource, namespace, name, dryRun: false }, remove);
  if (step.do === "remove") await afterRemoval(registry, request, entry);
  const isHeld = step.do === "nothing" && step.object.metadata.uid === uid;
  if (isHeld) return { kind: "pending", entry: entry as Entry };
  return { kind: "gone", entry: step.do === "remove" ? (entry as Entry) : marked, uid };
}

/** The first step. If not pending, the removal follows the mark. */
interface Plan {
  readonly step: Step;
  readonly pending: boolean;
  /** The object is removed at once because its last finalizers are. */
  readonly dropsFinalizers?: boolean;
}

async function planDeletion(registry: RegistryContext, request: DeleteRequest, existing: Entry): Promise<Plan> {
  const { resource, converted } = request.target;
  const { strategy } = resource.definition;
  const object =
    converted === undefined
      ? storeOf(resource).decode(existing)
      : await converted.present(existing, { reconvert: true });
  const context = strategyContext(registry, request);
  checkIfMatch(resource, request.name, request.ifMatch, existing.revision);
  checkDeletePreconditions(resource, object, request.options.preconditions);
  const isHeld = strategy.holdsDeletion(object);
  const grace = isHeld ? undefined : graceOf(resource, object, request.options, context.now);
  const waits = grace === "pending" || (isHeld && object.metadata.deletionTimestamp !== undefined);
  if (waits) return { step: { do: "nothing", object }, pending: true }; // Without admission, as upstream.
  if (request.admitted !== true) {
    strategy.checkDeletion(object, context);
    await admitDeletion(registry, request, object);
  }
  const hadFinalizers = (object.metadata.finalizers ?? []).length > 0;
  if (isHeld) return hold(resource, object, request.options, context.now);
  if (registry.keepsDependents !== true) setDependentsFinalizers(object, resource, request.options);
  const finalizers = object.metadata.finalizers ?? [];
  if (grace !== undefined) {
    if (object.metadata.deletionTimestamp === undefined && Number(object.metadata.generation ?? 0) > 0)
      raiseGeneration(object.metadata);
    object.metadata.deletionTimestamp = grace.deletionTimestamp;
    object.metadata.deletionGracePeriodSeconds = grace.seconds;
    return { step: { do: "put", object }, pending: finalizers.length > 0 || grace.seconds > 0 };
  }
  if (finalizers.length === 0)
    return { step: { do: "remove", object }, pending: false, dropsFinalizers: hadFinalizers };
  mark(object, context.now);
  object.metadata.deletionGracePeriodSeconds = 0;
  return { step: { do: "put", object }, pending: true };
}

/**
 * Runs the admission of a deletion.
 * @param oldObject undefined when it cannot be read
 */
export async function admitDeletion(
  { admission }: RegistryContext,
  request: DeleteRequest,
  oldObject: KubeObject | undefined,
): Promise<void> {
  const name = request.isOfCollection === true ? "" : request.name;
  const attributes = admissionAttributes({ ...request, name }, { operation: "DELETE", oldObject });
  await admission.mutate(attributes);
  await admission.validate(attributes);
}

/** Marks an object that a controller removes later, such as a namespace. */
function hold({ definition }: Resource, object: KubeObject, options: DeleteOptions, now: number): Plan {
  object.metadata.deletionTimestamp = formatTime(now);
  definition.strategy.markDeleted(object, options);
  return { step: { do: "put", object }, pending: true };
}

function mark({ metadata }: KubeObject, now: number): void {
  const deletedAt = metadata.deletionTimestamp;
  if (deletedAt === undefined && Number(metadata.generation ?? 0) > 0) raiseGeneration(metadata);
  if (deletedAt === undefined || Date.parse(deletedAt) > now) metadata.deletionTimestamp = formatTime(now);
}

interface Grace {
  readonly seconds: number;
  readonly deletionTimestamp: string;
}

/**
 * How long a gracefully deleted object remains from now. A running grace period can only be
 * shortened.
 * @returns undefined when it need not remain, "pending" when its grace period runs already
 */
function graceOf(
  { definition }: Resource,
  object: KubeObject,
  options: DeleteOptions,
  now: number,
): Grace | "pending" | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  const period = definition.strategy.gracePeriod(object, options.gracePeriodSeconds);
  if (period === undefined) return undefined;
  if (deletionTimestamp === undefined)
    return { seconds: period.seconds, deletionTimestamp: formatTime(now + durationMs(period.seconds)) };
  const running = Number(deletionGracePeriodSeconds);
  if (running === 0) return undefined;
  const sent = options.gracePeriodSeconds;
  const requested = sent !== undefined && sent < 0 ? 1 : sent; // Upstream reads any negative number as 1.
  if (requested === undefined || requested >= running) return "pending";
  const ends = Date.parse(deletionTimestamp) - durationMs(running) + durationMs(requested);
  // A period that would have ended already ends now, but not at 0: the kubelet must see the
  // deletion.
  if (ends < now) return { seconds: Math.min(requested, 1), deletionTimestamp: formatTime(now) };
  return { seconds: requested, deletionTimestamp: formatTime(ends) };
}

/** Upstream counts nanoseconds in 64 bits, which wrap after 292 years. */
function durationMs(seconds: number): number {
  const plain = seconds * 1000;
  return Math.abs(plain) < 2 ** 43 ? plain : Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);
}

/** Whether objects of the resource have no dependents: Events. */
function hasNoDependents({ definition }: Resource): boolean {
  return definition.resource === "events" && (definition.group === "" || definition.group === "events.k8s.io");
}

const orphanFinalizer = "orphan";
const foregroundFinalizer = "foregroundDeletion";

/**
 * Records the propagation policy as one of two finalizers: the options decide, then existing
 * finalizers, then the kind's default. Options for a resource without dependents are ignored.
 */
function setDependentsFinalizers({ metadata }: KubeObject, resource: Resource, options: DependentsOptions): void {
  const before = metadata.finalizers ?? [];
  const present = before.find((finalizer) => finalizer === orphanFinalizer || finalizer === foregroundFinalizer);
  const policy = hasNoDependents(resource) ? undefined : policyOf(resource, options, present);
  const after = before.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  if (policy === "Orphan") after.push(orphanFinalizer);
  if (policy === "Foreground") after.push(foregroundFinalizer);
  if (!isSameSet(before, after)) metadata.finalizers = after;
}

/** @param present the finalizer of a policy that the object has */
function policyOf(
  { definition: { strategy } }: Resource,
  { orphanDependents, propagationPolicy }: DependentsOptions,
  present: string | undefined,
): string {
  if (orphanDependents !== undefined) return orphanDependents ? "Orphan" : "Background";
  if (propagationPolicy !== undefined) return propagationPolicy;
  if (present !== undefined) return present === orphanFinalizer ? "Orphan" : "Foreground";
  return strategy.orphansByDefault === undefined ? "Background" : "Orphan";
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const [one, other] = [new Set(a), new Set(b)];
  return one.size === other.size && b.every((item) => one.has(item));
}

/**
 * Adds the kind's warning when the options set no propagation policy and the default orphans
 * dependents.
 */
export function warnOfOrphans({ target, options, warnings }: DeleteRequest): void {
  const warning = target.resource.definition.strategy.orphansByDefault?.warning;
  const setsNoPolicy = options.propagationPolicy === undefined && options.orphanDependents === undefined;
  if (warning !== undefined && setsNoPolicy && !warnings.includes(warning)) warnings.push(warning);
}

/** Replaces one object: PUT, and the replacement that a patch or an apply computes. */

import { ApiError, notFound } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { internalMetadata, type KubeObject } from "../apimachinery/object.ts";
import { validateObjectMetaUpdate } from "../apimachinery/validation/metadata.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { ConvertedVersion, Resolved } from "../catalog/contract.ts";
import { ConversionError } from "../catalog/converter.ts";
import type { Strategy, StrategyContext, SubresourceRules } from "../catalog/strategy-contract.ts";
import { cloneJson } from "../lib/json/values.ts";
import { sameButTimes } from "../lib/managed-fields/entries.ts";
import { pauseOf } from "../lib/pauses.ts";
import { equalValues } from "../lib/schema/equal.ts";
import { dropDisabledFields } from "../lib/schema/gates.ts";
import type { Struct } from "../lib/schema/schema.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { AdmissionAttributes } from "./admission-attributes.ts";
import { settle } from "./commit.ts";
import { commitWithRetry, type Step } from "./commit-with-retry.ts";
import type { RegistryContext, WriteRequest, Written } from "./contract.ts";
import { finishAll, prepareNew, undoAll } from "./create.ts";
import { validateDeclared } from "./declarative-validation.ts";
import { afterRemoval } from "./delete.ts";
import type { JointChange } from "./joint-change.ts";
import { contentDiffers, keepAllExcept, keepField, keepSystemFields, raiseGeneration } from "./keep-fields.ts";
import { trackManagers } from "./managed-fields/track.ts";
import { checkIfMatch, checkUid, checkVersion, keyInErrors, parseResourceVersion } from "./preconditions.ts";
import {
  acceptsAnyFinalizer,
  admissionAttributes,
  checkNames,
  checkNamespace,
  dedupOwnerReferences,
  strategyContext,
} from "./prepare.ts";
import { invalidObject, storedResource } from "./resource-names.ts";

/** An update of one object. */
export interface UpdateRequest extends WriteRequest {
  /** The uid of the sent object; empty when it has none. */
  readonly uid?: string;
  /** A resourceVersion, bare or quoted, that the object must have. */
  readonly ifMatch?: string | undefined;
  /**
   * Whether a missing object is created, regardless of the kind's default: apply creates it,
   * patches do not.
   */
  readonly createsMissing?: boolean;
  /**
   * Checks that the user may create the object; called when it does not exist. Absent for writes of
   * the server itself.
   * @throws ApiError
   */
  readonly checkCreate?: () => Promise<void>;
  /** The owner references of a patched object are checked only after admission. */
  readonly isPatch?: boolean;
  /**
   * Unless false, fields that `next` changes are managed by the request's manager. False if `next`
   * sets `metadata.managedFields`.
   */
  readonly tracksManagers?: boolean;
  /**
   * Returns the object that admission sees instead of the stored one, such as its Scale. `next`
   * then runs mutating admission.
   */
  readonly admittedAs?: (object: KubeObject) => KubeObject;
  /**
   * Returns the new object at the storage version, which the registry may change. Called for each
   * attempt, because another writer may win.
   * @param current returns a new copy of the existing object, at each call; undefined when it does
   *   not exist
   * @param old the existing object, read-only
   * @param pause as {@link WriteRequest.pause}; set also when only the existing object is large
   * @throws ApiError to end the write
   */
  next(
    current: (() => KubeObject) | undefined,
    old: KubeObject | undefined,
    pause: WriteRequest["pause"],
  ): KubeObject | Promise<KubeObject>;
}

/**
 * Replaces an object, or creates it where that is allowed.
 * @throws ApiError 400, 403 (admission), 404, 409, 422
 */
export async function update(registry: RegistryContext, request: UpdateRequest): Promise<Written> {
  const { resource, converted } = request.target;
  const { namespace, name, dryRun, audit, lifetime } = request;
  const target = { resource, namespace, name, dryRun, audit, lifetime };
  let created = false;
  let attempted: Attempted = { undo: [], done: [] };
  const { step, entry } = await commitWithRetry(registry, target, (existing) => {
    undoAll(attempted.undo); // Another writer won.
    attempted = { undo: [], done: [] };
    created = existing === undefined;
    if (existing === undefined) return createMissing(registry, request, attempted);
    const step = replace(registry, request, existing, attempted);
    return converted === undefined || dryRun ? step : withRecheck(request.target, converted, existing, step);
  }).catch((error: unknown) => {
    undoAll(attempted.undo);
    throw error;
  });
  if (!dryRun && step.do === "put" && attempted.done.length > 0) await finishAll(attempted.done);
  if (!dryRun && step.do === "remove") {
    undoAll(attempted.undo);
    await afterRemoval(registry, request, entry);
  }
  if (dryRun || step.do === "remove" || entry === undefined) return { object: step.object, created };
  return { entry, created };
}

/** What the admission plugins of one attempt do when it fails, and after it was stored. */
type Attempted = Pick<AdmissionAttributes, "undo" | "done">;

/**
 * For resources with a conversion webhook, a write that fails or removes the object converts the
 * existing one again, whose error comes first. A write that could not be converted to the storage
 * version would only fail again. Source: `GuaranteedUpdate` in
 * k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/store.go, which reads an object again that came from
 * the cache.
 */
async function withRecheck(
  { resource, version }: Resolved,
  converted: ConvertedVersion,
  existing: Entry,
  attempt: Promise<Step>,
): Promise<Step> {
  try {
    const step = await attempt;
    if (step.do === "remove") await converted.recheck(existing);
    return step;
  } catch (error) {
    const isStorageVersionError =
      error instanceof ConversionError && version.version !== storeOf(resource).form.version;
    if (error instanceof ApiError && !isStorageVersionError) await converted.recheck(existing);
    throw error;
  }
}

/** @param attempted receives functions of this attempt */
async function replace(
  registry: RegistryContext,
  request: UpdateRequest,
  existing: Entry,
  attempted: Attempted,
): Promise<Step> {
  const { resource, version, converted } = request.target;
  const { strategy } = resource.definition;
  const store = storeOf(resource);
  const context = strategyContext(registry, request);
  const pause = request.pause ?? pauseOf(existing.json.length);
  const losses = version.conversion?.losses;
  const seen = converted === undefined ? undefined : await converted.present(existing, { reconvert: request.dryRun });
  const old = seen === undefined ? (losses?.seen(store.decode(existing)) ?? store.decode(existing)) : cloneJson(seen);
  const current = (): KubeObject => cloneJson(old);
  checkIfMatch(resource, request.name, request.ifMatch, existing.revision);
  checkUid(resource, keyInErrors(existing.key, request), request.name, request.uid ?? "", old.metadata.uid ?? "");
  await pause?.();
  const next = await request.next(current, old, pause);
  checkNames(next, request);
  if (request.isPatch !== true) dedupOwnerReferences(next.metadata, request.warnings, "sent");
  await pause?.();
  if (request.tracksManagers !== false) await trackManagers(registry, request, next, old, pause);
  await pause?.();
  const joint: JointChange[] = [];
  const change = { object: next, oldObject: old, joint, ...attempted };
  const attributes = admissionAttributes(request, { operation: "UPDATE", ...change });
  registry.entered?.("mutate");
  if (request.admittedAs === undefined) await registry.admission.mutate(attributes);
  checkNamespace(next, request.namespace); // Admission may have changed it.
  dedupOwnerReferences(next.metadata, request.warnings, "admitted");
  checkVersion(resource, next, existing.revision);
  const rules = rulesFor(registry, request);
  keepSystemFields(next.metadata, old.metadata);
  if (!request.dryRun && next.metadata.selfLink !== undefined) delete next.metadata.selfLink; // Never stored.
  await pause?.();
  rules.prepare(next, old, context);
  await pause?.();
  await checkValidUpdate(registry, request, rules, next, old, context);
  await pause?.();
  registry.entered?.("authorize");
  await registry.admission.authorize(attributes);
  registry.entered?.("validate");
  await registry.admission.validate(asAdmitted(attributes, request));
  await pause?.();
  if (isFinished(next, old, strategy)) return { do: "remove", object: next };
  const settled = await settle(request.target, next);
  if (converted !== undefined && request.dryRun)
    return { do: "put", object: await converted.readBack(settled, next.metadata) };
  keepTimes(settled, losses === undefined && converted === undefined ? old : store.decode(existing), store.form.schema);
  await pause?.();
  return { do: "put", object: settled, joint, mayDropManagedFields: request.tracksManagers !== false };
}

function asAdmitted(attributes: AdmissionAttributes, { admittedAs }: UpdateRequest): AdmissionAttributes {
  const { object, oldObject } = attributes;
  if (admittedAs === undefined || object === undefined || oldObject === undefined) return attributes;
  return { ...attributes, object: admittedAs(object), oldObject: admittedAs(oldObject) };
}

/**
 * Keeps the old times of managed fields when nothing else changes, so that the write is a no-op.
 */
function keepTimes(next: KubeObject, old: KubeObject, schema: Struct): void {
  const { managedFields } = next.metadata;
  if (managedFields === undefined || !sameButTimes(managedFields, old.metadata.managedFields)) return;
  next.metadata.managedFields = old.metadata.managedFields as NonNullable<typeof managedFields>;
  if (!equalValues(next, old, schema)) next.metadata.managedFields = managedFields;
}

/**
 * @throws ApiError 422
 */
async function checkValidUpdate(
  registry: RegistryContext,
  request: UpdateRequest,
  rules: SubresourceRules,
  next: KubeObject,
  old: KubeObject,
  context: StrategyContext,
): Promise<void> {
  const { target, subresource, warnings } = request;
  const { name = "" } = next.metadata; // Admission may have changed it.
  const { strategy } = target.resource.definition;
  const errors = new FieldErrors();
  const custom = acceptsAnyFinalizer(target.resource.definition);
  const metaOf = ({ metadata }: KubeObject) => internalMetadata(metadata, strategy);
  validateObjectMetaUpdate(metaOf(next), metaOf(old), errors, { custom, repeated: strategy.repeatsMetaRules });
  await errors.collect(() => rules.validate(next, old, errors, context));
  if (strategy.declarative !== undefined)
    validateDeclared(registry, request, strategy.declarative, { object: next, old, errors });
  if (!errors.empty) {
    registry.validation.rejectedUpdate(errors.causes);
    throw invalidObject(target.resource, name, errors);
  }
  const warningsOf = subresource === "status" ? strategy.statusWarnings : strategy.warnings;
  warnings.push(...warningsOf(next, old, context));
}

/** The rules for the path: of the main resource, of `status`, or of another subresource. */
function rulesFor(registry: RegistryContext, { target, subresource }: UpdateRequest): SubresourceRules {
  const { strategy } = target.resource.definition;
  const special = Object.hasOwn(strategy.subresources, subresource) ? strategy.subresources[subresource] : undefined;
  if (special !== undefined) return special;
  return subresource === "status"
    ? statusRules(registry, target.resource, strategy)
    : mainRules(registry, target.resource, strategy);
}

function mainRules(
  registry: RegistryContext,
  resource: UpdateRequest["target"]["resource"],
  strategy: Strategy,
): SubresourceRules {
  return {
    prepare(next, old, context) {
      if (strategy.isolatesStatus) keepField(next, old, "status");
      const { schema } = storeOf(resource).form;
      const differs = (): boolean => contentDiffers(next, old, schema, strategy.isolatesStatus ? "status" : "");
      const differedAsSent = strategy.countsDroppedFields && differs();
      strategy.dropDisabled(next, old, context);
      dropDisabledFields(next, old, schema, (gate) => registry.gates.enabled(gate));
      strategy.prepareForUpdate(next, old, context);
      if (strategy.hasGeneration && (differedAsSent || differs() || strategy.raisesGeneration(next, old)))
        raiseGeneration(next.metadata);
    },
    validate: strategy.validateUpdate,
  };
}

function statusRules(
  registry: RegistryContext,
  resource: UpdateRequest["target"]["resource"],
  strategy: Strategy,
): SubresourceRules {
  return {
    prepare(next, old, context) {
      keepAllExcept(next, old, "status");
      if (strategy.dropsDisabledStatus)
        dropDisabledFields(next, old, storeOf(resource).form.schema, (gate) => registry.gates.enabled(gate));
      strategy.prepareForStatusUpdate(next, old, context);
    },
    validate: strategy.validateStatusUpdate,
  };
}

/** Whether the update removes the last finalizer of a deleted object, which then is removed. */
function isFinished(next: KubeObject, old: KubeObject, strategy: Strategy): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata;
  if (deletionTimestamp === undefined || Number(deletionGracePeriodSeconds) !== 0) return false;
  return (next.metadata.finalizers ?? []).length === 0 && !strategy.holdsDeletion(next);
}

/** A PUT or apply of an object that does not exist, where the kind allows it. */
async function createMissing(registry: RegistryContext, request: UpdateRequest, attempted: Attempted): Promise<Step> {
  const { resource } = request.target;
  const { namespace, name } = request;
  if (request.subresource !== "" || !(request.createsMissing ?? resource.definition.allowCreateOnUpdate)) {
    throw notFound(storedResource(resource), name);
  }
  checkIfMatch(resource, name, request.ifMatch, undefined);
  checkUid(resource, keyInErrors(storeOf(resource).keyOf(namespace, name), request), name, request.uid ?? "", "");
  const { pause } = request;
  await pause?.();
  const object = await request.next(undefined, undefined, pause);
  checkNames(object, request);
  if (request.isPatch !== true) dedupOwnerReferences(object.metadata, request.warnings, "sent");
  await pause?.();
  if (request.tracksManagers !== false) await trackManagers(registry, request, object, undefined);
  await pause?.();
  const attributes = admissionAttributes(request, { operation: "CREATE", object, ...attempted });
  await registry.admission.mutate(attributes);
  checkNamespace(object, request.namespace); // Admission may have changed it.
  parseResourceVersion(object.metadata.resourceVersion); // Upstream reads it, and uses it for existing objects only.
  await pause?.();
  await prepareNew(registry, request, object);
  await pause?.();
  await registry.admission.authorize(attributes);
  await request.checkCreate?.();
  await registry.admission.validate(attributes);
  if (!request.dryRun) {
    delete object.metadata.resourceVersion;
    delete object.metadata.selfLink; // Never stored.
  }
  const settled = await settle(request.target, object);
  const shown = request.dryRun
    ? ((await request.target.converted?.readBack(settled, object.metadata)) ?? settled)
    : settled;
  return {
    do: "put",
    object: shown,
    joint: attributes.joint,
    mayDropManagedFields: request.tracksManagers !== false,
  };
}

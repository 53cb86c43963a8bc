/** Creates one object: POST, and a PUT or apply of an object that does not exist. */

import { ApiError, alreadyExists, generatedNameTaken, plainError } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { internalMetadata, type KubeObject } from "../apimachinery/object.ts";
import { validateObjectMeta } from "../apimachinery/validation/metadata.ts";
import { storeOf } from "../catalog/catalog.ts";
import { pathSegmentNameProblems } from "../lib/names/names.ts";
import { dropDisabledFields } from "../lib/schema/gates.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { AdmissionAttributes } from "./admission-attributes.ts";
import { insert, settle } from "./commit.ts";
import { checkRetry } from "./commit-with-retry.ts";
import type { RegistryContext, WriteRequest, Written } from "./contract.ts";
import { readableEntry } from "./current-entry.ts";
import { validateDeclared } from "./declarative-validation.ts";
import { JointConflict } from "./joint-change.ts";
import { trackManagers } from "./managed-fields/track.ts";
import { findResourceVersion } from "./preconditions.ts";
import {
  acceptsAnyFinalizer,
  admissionAttributes,
  checkNamespace,
  dedupOwnerReferences,
  fillSystemFields,
  needsName,
  strategyContext,
  wipeSystemFields,
} from "./prepare.ts";
import { invalidObject, storedResource } from "./resource-names.ts";

export interface CreateRequest extends WriteRequest {
  /**
   * Returns the object in the storage version, owned by the registry; a new one at each call, for
   * retries with another generated name.
   */
  decode(): KubeObject;
}

/** Attempts to generate a name that is not in use. */
const generatedNamesMax = 8;

/** @throws ApiError 400, 403 (admission), 404 (namespace), 409, 422 */
export async function create(registry: RegistryContext, request: CreateRequest): Promise<Written> {
  const warned = request.warnings.length;
  let named = 0;
  for (let attempts = 1; ; attempts++) {
    const object = request.decode();
    const generated = needsName(object.metadata);
    try {
      return await createOnce(registry, request, object, store);
    } catch (error) {
      if (error instanceof JointConflict) checkRetry(registry, { ...request, ...request.target }, attempts);
      else if (!generated || !isTaken(error) || ++named === generatedNamesMax) throw error;
      request.warnings.length = warned;
    }
  }
}

const isTaken = (error: unknown): boolean => error instanceof ApiError && error.status.reason === "AlreadyExists";

/** The last step of a creation. */
type Finish<Result> = (
  registry: RegistryContext,
  request: CreateRequest,
  object: KubeObject,
  attributes: AdmissionAttributes,
) => Promise<Result>;

/** One attempt. @throws ApiError · what `finish` throws */
export async function createOnce<Result>(
  registry: RegistryContext,
  request: CreateRequest,
  object: KubeObject,
  finish: Finish<Result>,
): Promise<Result> {
  wipeSystemFields(object.metadata);
  checkNamespace(object, request.namespace);
  dedupOwnerReferences(object.metadata, request.warnings, "sent");
  await request.pause?.();
  await trackManagers(registry, request, object, undefined);
  await request.pause?.();
  const attributes = admissionAttributes(request, { operation: "CREATE", object });
  try {
    registry.entered?.("mutate");
    await registry.admission.mutate(attributes);
    checkNamespace(object, request.namespace); // Admission may have changed it.
    await request.pause?.();
    await prepareNew(registry, request, object);
    await request.pause?.();
    registry.entered?.("authorize");
    await registry.admission.authorize(attributes);
    registry.entered?.("validate");
    await registry.admission.validate(withGeneratedName(attributes, object));
    await request.pause?.();
    return await finish(registry, request, object, attributes);
  } catch (error) {
    undoAll(attributes.undo);
    throw error;
  }
}

/** Plugins that validate see the generated name; those that mutate run before it is generated. */
function withGeneratedName(attributes: AdmissionAttributes, { metadata }: KubeObject): AdmissionAttributes {
  return attributes.name === "" ? { ...attributes, name: metadata.name as string } : attributes;
}

/** Runs what admission plugins do after a write was stored. */
export async function finishAll(done: AdmissionAttributes["done"]): Promise<void> {
  await Promise.all(done.splice(0).map((one) => one()));
}

/** Undoes the side effects of admission, such as quota usage, for a write that is not stored. */
export function undoAll(undo: (() => void)[]): void {
  for (const undoOne of undo.splice(0)) undoOne();
}

/**
 * Prepares and validates a new object, between mutating and validating admission.
 * @throws ApiError 422
 */
export async function prepareNew(registry: RegistryContext, request: WriteRequest, object: KubeObject): Promise<void> {
  const { resource } = request.target;
  const { strategy, namespaced } = resource.definition;
  const context = strategyContext(registry, request);
  const { metadata } = object;
  dedupOwnerReferences(metadata, request.warnings, "admitted");
  if (needsName(metadata) && !strategy.generatesNames) metadata.name = metadata.generateName as string;
  fillSystemFields(metadata, registry, context.now);
  if (strategy.isolatesStatus && !strategy.keepsStatusOnCreate) delete object.status;
  if (strategy.hasGeneration) metadata.generation = 1;
  strategy.dropDisabled(object, undefined, context);
  dropDisabledFields(object, undefined, storeOf(resource).form.schema, (gate) => registry.gates.enabled(gate));
  strategy.prepareForCreate(object, context);
  const errors = new FieldErrors();
  const validateName = (name: string, prefix: boolean): string[] => strategy.validateName(name, prefix, object);
  const checkMeta = (): void =>
    validateObjectMeta(
      internalMetadata(metadata, strategy),
      { namespaced, validateName, custom: acceptsAnyFinalizer(resource.definition) },
      errors,
    );
  if (!strategy.checksMetaLast) checkMeta();
  await errors.collect(() => strategy.validate(object, errors, context));
  if (strategy.checksMetaLast && errors.empty) checkMeta();
  if (strategy.declarative !== undefined) validateDeclared(registry, request, strategy.declarative, { object, errors });
  if (!errors.empty) throw invalidObject(resource, metadata.name ?? "", errors);
  checkPathSegment(request, object);
  request.warnings.push(...strategy.warnings(object, undefined, context));
}

/** Every name must be valid in a path, whatever the kind allows. */
function checkPathSegment({ target }: WriteRequest, object: KubeObject): void {
  const { generateName = "", name = "" } = object.metadata;
  const errors = new FieldErrors();
  for (const problem of pathSegmentNameProblems(generateName, true))
    errors.invalid("metadata.generateName", generateName, problem);
  for (const problem of pathSegmentNameProblems(name)) errors.invalid("metadata.name", name, problem);
  if (!errors.empty) throw invalidObject(target.resource, name, errors);
}

async function store(
  registry: RegistryContext,
  request: CreateRequest,
  object: KubeObject,
  { joint, done }: AdmissionAttributes,
): Promise<Written> {
  const { resource } = request.target;
  const target = storeOf(resource);
  const { metadata } = object;
  if (!request.dryRun) checkNoVersion(object); // Upstream checks it in the store, so not in a dry run.
  const key = target.keyOf(request.namespace, metadata.name as string);
  const settled = await settle(request.target, object);
  await request.pause?.();
  if (!request.dryRun) {
    const stopTimer = request.audit?.timing("etcd");
    const stored = await insert(registry, resource, key, { object: settled, joint });
    stopTimer?.();
    if ("taken" in stored) throw nameTaken(request, object, stored.taken);
    if (done.length > 0) await finishAll(done);
    return { entry: stored.entry, created: true };
  }
  const taken = await readableEntry(target, key); // As upstream, which stores nothing over another one.
  if (taken !== undefined) throw nameTaken(request, object, taken);
  return { object: (await request.target.converted?.readBack(settled, metadata)) ?? settled, created: true };
}

/** @throws ApiError 500, as upstream's store */
export function checkNoVersion({ metadata }: KubeObject): void {
  const { resourceVersion } = metadata;
  if (resourceVersion === undefined) return;
  delete metadata.resourceVersion;
  // Upstream ignores a text that is not a number.
  if (findResourceVersion(resourceVersion) ?? 0n) {
    throw plainError("resourceVersion should not be set on objects to be created");
  }
}

/** @param taken the existing object; undefined when it cannot be read */
function nameTaken({ target }: WriteRequest, { metadata }: KubeObject, taken: Entry | undefined): ApiError {
  const resource = storedResource(target.resource);
  const { name = "", generateName = "" } = metadata;
  const { status } = generateName === "" ? alreadyExists(resource, name) : generatedNameTaken(resource, name);
  if (taken === undefined || storeOf(target.resource).decode(taken).metadata.deletionTimestamp === undefined)
    return new ApiError(status);
  return new ApiError({ ...status, message: `object is being deleted: ${status.message}` });
}

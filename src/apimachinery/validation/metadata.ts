/**
 * Validates the metadata of objects. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/api/validation/objectmeta.go, with the finalizer rule of the
 * built-in kinds.
 */
import { isPrintable, quoteGo } from "../../lib/json/quote.ts";
import {
  dnsLabelProblems,
  finalizerProblems,
  labelValueProblems,
  pathSegmentNameProblems,
  qualifiedNameProblems,
} from "../../lib/names/names.ts";
import { type FieldErrors, typedText } from "../field-errors.ts";
import { type ManagedFieldsEntry, type ObjectMeta, type OwnerReference, parseGroupVersion } from "../object.ts";

const annotationBytesMax = 256 * 1024;
/** The maximum length of a field manager. */
export const fieldManagerBytesMax = 128;
/** Field managers that are valid without further checks. */
export const plainManager = /^[ -~]{1,128}$/;
const subresourceBytesMax = 256;

/** The rules of a kind. */
interface MetaRules {
  readonly namespaced: boolean;
  validateName(name: string, prefix: boolean): string[];
  /** Custom resources accept finalizers without a domain. */
  readonly custom?: boolean;
}

/** Validates the metadata of a new object after its name was generated. */
export function validateObjectMeta(meta: ObjectMeta, rules: MetaRules, errors: FieldErrors): void {
  validateCommonMeta(meta, rules, errors);
  if (rules.custom !== true) validateFinalizerNames(meta.finalizers, errors);
}

interface MetaUpdateRules {
  /** Accepts finalizers without a domain. */
  readonly custom?: boolean;
  /**
   * False if the kind repeats the validation of metadata itself, with {@link validateMetaAgain} and
   * {@link validateMetaChangesAgain}.
   */
  readonly repeated?: boolean;
}

/**
 * Validates the metadata of an update. Upstream validates most of it three times (all objects as if
 * created, all objects as updated, and again in the strategy of the kind), so that one mistake
 * gives several causes.
 *
 * @param next with the system fields already restored
 */
export function validateObjectMetaUpdate(
  next: ObjectMeta,
  old: ObjectMeta,
  errors: FieldErrors,
  { custom = false, repeated = true }: MetaUpdateRules = {},
): void {
  const before = errors.causes.length;
  validateCommonMeta(next, { namespaced: (old.namespace ?? "") !== "", validateName: pathSegmentNameProblems }, errors);
  const isValid = errors.causes.length === before;
  validateChanges(next, old, errors);
  if (!isValid) validateContents(next, errors);
  if (!repeated) return;
  if (errors.causes.length > before) {
    validateChanges(next, old, errors);
    validateContents(next, errors);
  }
  if (!custom) validateFinalizerNames(next.finalizers, errors);
}

/**
 * For kinds that validate updates as if the object were created: repeats the validation at that
 * point.
 */
export const validateMetaAgain = validateObjectMeta;

/**
 * {@link validateMetaAgain} for kinds that are updated often. Without an error so far, only `generateName` can be
 * invalid, because the rules of updates do not read it.
 */
export function validateMetaAgainIfNeeded(meta: ObjectMeta, rules: MetaRules, errors: FieldErrors): void {
  if (!errors.empty || (meta.generateName ?? "") !== "") validateMetaAgain(meta, rules, errors);
}

/** For kinds that validate changes of metadata after their own fields. */
export function validateMetaChangesAgain(next: ObjectMeta, old: ObjectMeta, errors: FieldErrors, custom = false): void {
  validateChanges(next, old, errors);
  validateContents(next, errors);
  if (!custom) validateFinalizerNames(next.finalizers, errors);
}

function validateCommonMeta(meta: ObjectMeta, { namespaced, validateName }: MetaRules, errors: FieldErrors): void {
  const { generateName = "", name = "", namespace = "", generation = 0 } = meta;
  if (generateName !== "") addInvalid(errors, "metadata.generateName", generateName, validateName(generateName, true));
  if (name === "") errors.required("metadata.name", "name or generateName is required");
  else addInvalid(errors, "metadata.name", name, validateName(name, false));
  if (!namespaced && namespace !== "") errors.forbidden("metadata.namespace", "not allowed on this type");
  if (namespaced && namespace === "") errors.required("metadata.namespace");
  if (namespaced && namespace !== "") addInvalid(errors, "metadata.namespace", namespace, dnsLabelProblems(namespace));
  if (generation < 0) errors.invalid("metadata.generation", generation, "must be greater than or equal to 0");
  validateLabels(meta.labels, "metadata.labels", errors);
  validateAnnotations(meta.annotations, "metadata.annotations", errors);
  validateOwnerReferences(meta.ownerReferences, errors);
  validateFinalizers(meta.finalizers, errors);
  validateManagedFields(meta.managedFields, errors);
}

function validateContents(
  { labels, annotations, ownerReferences, managedFields }: ObjectMeta,
  errors: FieldErrors,
): void {
  validateLabels(labels, "metadata.labels", errors);
  validateAnnotations(annotations, "metadata.annotations", errors);
  validateOwnerReferences(ownerReferences, errors);
  validateManagedFields(managedFields, errors);
}

function validateChanges(next: ObjectMeta, old: ObjectMeta, errors: FieldErrors): void {
  if (old.deletionTimestamp !== undefined) validateNoNewFinalizers(next.finalizers ?? [], old.finalizers ?? [], errors);
  if ((next.resourceVersion ?? "") === "")
    errors.invalid("metadata.resourceVersion", "", "must be specified for an update");
  if ((next.generation ?? 0) < (old.generation ?? 0))
    errors.invalid("metadata.generation", next.generation ?? 0, "must not be decremented");
  checkImmutable("name", next.name ?? "", old.name ?? "", errors);
  checkImmutable("namespace", next.namespace ?? "", old.namespace ?? "", errors);
  checkImmutable("uid", next.uid ?? "", old.uid ?? "", errors);
  checkImmutable("creationTimestamp", next.creationTimestamp, old.creationTimestamp, errors);
  checkImmutable("deletionTimestamp", next.deletionTimestamp, old.deletionTimestamp, errors);
  checkImmutable("deletionGracePeriodSeconds", next.deletionGracePeriodSeconds, old.deletionGracePeriodSeconds, errors);
}

function checkImmutable(field: keyof ObjectMeta, next: unknown, old: unknown, errors: FieldErrors): void {
  if (next !== old) errors.invalid(`metadata.${field}`, next, "field is immutable");
}

/** Validates labels of an object, template or selector. */
export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  path: string,
  errors: FieldErrors,
): void {
  for (const key in labels) {
    const value = labels[key] as string;
    addInvalid(errors, path, key, qualifiedNameProblems(key));
    addInvalid(errors, path, value, labelValueProblems(value));
  }
}

/** Validates annotations. Their keys are qualified names in any case. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
  errors: FieldErrors,
): void {
  let bytes = 0;
  for (const key in annotations) {
    const value = annotations[key] as string;
    addInvalid(errors, path, key, qualifiedNameProblems(key.toLowerCase()));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > annotationBytesMax) errors.tooLong(path, annotationBytesMax);
}

function validateOwnerReferences(references: readonly OwnerReference[] | undefined, errors: FieldErrors): void {
  let controller: string | undefined;
  for (const reference of references ?? []) {
    validateOwnerReference(reference, errors);
    if (reference.controller !== true) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === undefined) controller = name;
    else {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.invalid("metadata.ownerReferences", references?.map(inStructOrder), why);
    }
  }
}

function validateOwnerReference(reference: OwnerReference, errors: FieldErrors): void {
  const { apiVersion = "", kind = "", name = "", uid = "" } = reference;
  const path = "metadata.ownerReferences";
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: "", version: "" };
  if (version === "") errors.invalid(`${path}.apiVersion`, apiVersion, "version must not be empty");
  if (kind === "") errors.invalid(`${path}.kind`, kind, "must not be empty");
  if (name === "") errors.invalid(`${path}.name`, name, "must not be empty");
  if (uid === "") errors.invalid(`${path}.uid`, uid, "must not be empty");
  if (group === "" && version === "v1" && kind === "Event") {
    errors.invalid(path, inStructOrder(reference), "/v1, Kind=Event is disallowed from being an owner");
  }
}

/**
 * The reference with its fields in the order of Go's struct, and the four required fields always
 * set.
 */
function inStructOrder(reference: OwnerReference): OwnerReference {
  const { apiVersion = "", kind = "", name = "", uid = "", controller, blockOwnerDeletion } = reference;
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller !== undefined && { controller }),
    ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
  };
}

function validateFinalizers(finalizers: readonly string[] | undefined, errors: FieldErrors): void {
  for (const finalizer of finalizers ?? [])
    addInvalid(errors, "metadata.finalizers", finalizer, qualifiedNameProblems(finalizer));
  if (finalizers?.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

function validateFinalizerNames(finalizers: readonly string[] | undefined, errors: FieldErrors): void {
  finalizers?.forEach((finalizer, index) => {
    addInvalid(errors, `metadata.finalizers[${index}]`, finalizer, finalizerProblems(finalizer));
  });
}

function validateNoNewFinalizers(next: readonly string[], old: readonly string[], errors: FieldErrors): void {
  const existing = new Set(old);
  const added = [...new Set(next)].filter((finalizer) => !existing.has(finalizer)).sort();
  if (added.length === 0) return;
  const list = `[]string{${added.map(quoteGo).join(", ")}}`;
  errors.forbidden(
    "metadata.finalizers",
    `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
  );
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, errors: FieldErrors): void {
  entries?.forEach(({ operation = "", fieldsType = "", manager = "", subresource = "" }, index) => {
    const path = `metadata.managedFields[${index}]`;
    if (operation !== "Apply" && operation !== "Update")
      errors.invalid(`${path}.operation`, typedText(operation), "must be `Apply` or `Update`");
    if (fieldsType !== "" && fieldsType !== "FieldsV1")
      errors.invalid(`${path}.fieldsType`, fieldsType, "must be `FieldsV1`");
    validateFieldManager(manager, `${path}.manager`, errors);
    if (Buffer.byteLength(subresource) > subresourceBytesMax)
      errors.tooLong(`${path}.subresource`, subresourceBytesMax);
  });
}

/** Validates the parameter `fieldManager` or the manager of a managedFields entry. */
export function validateFieldManager(manager: string, path: string, errors: FieldErrors): void {
  if (plainManager.test(manager)) return;
  if (Buffer.byteLength(manager) > fieldManagerBytesMax) errors.tooLong(path, fieldManagerBytesMax);
  let offset = 0;
  for (const character of manager) {
    if (!isPrintable(character))
      errors.invalid(path, manager, `invalid character ${unicodeName(character)} (at position ${offset})`);
    offset += Buffer.byteLength(character);
  }
}

/** Formats the code point as Go's `%U`. */
const unicodeName = (character: string): string =>
  `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`;

/** Adds an error for each problem of one value. */
export function addInvalid(errors: FieldErrors, path: string, value: unknown, problems: readonly string[]): void {
  for (const problem of problems) errors.invalid(path, value, problem);
}

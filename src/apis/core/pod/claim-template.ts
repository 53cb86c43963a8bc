/**
 * Validation of volume claim templates and of the spec of any claim.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid, validateAnnotations, validateLabels } from "../../../apimachinery/validation/metadata.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";
import { metaFields } from "../../go-metadata.ts";
import { validateLabelSelector } from "../../label-selector.ts";
import { validateResourceQuantity } from "./resources.ts";

/** Validates the claim template of an ephemeral volume. @param path of the template */
export function validateClaimTemplate({ metadata, spec }: Part, path: string, errors: FieldErrors): void {
  validateTemplateMeta(metadata ?? {}, `${path}.metadata`, errors);
  validateClaimSpec(spec ?? {}, `${path}.spec`, {}, errors);
}

/** Metadata that templates cannot have, in upstream's order. */
const forbiddenMetadata = metaFields.filter((field) => field !== "labels" && field !== "annotations");

/** Templates can only have labels and annotations. @param path of the metadata */
export function validateTemplateMeta(metadata: Part, path: string, errors: FieldErrors): void {
  validateAnnotations(metadata.annotations, `${path}.annotations`, errors);
  validateLabels(metadata.labels, `${path}.labels`, errors);
  for (const field of forbiddenMetadata) {
    const value = metadata[field];
    const isSet =
      value !== undefined && value !== null && value !== "" && (value !== 0 || field === "deletionGracePeriodSeconds");
    if (isSet) {
      errors.forbidden(`${path}.${shownField(field)}`, "cannot be set");
    }
  }
}

const shownField = (field: string): string => (field === "uid" ? "uID" : field);

/** Invalid values to accept, because the stored claim has some. */
export interface ClaimRules {
  /** Invalid label values in the selector. */
  readonly anySelectorValue?: boolean;
  readonly anySourceGroup?: boolean;
}

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const volumeModes = ["Block", "Filesystem"];

/** @param path of the claim's spec */
export function validateClaimSpec(spec: Part, path: string, rules: ClaimRules, errors: FieldErrors): void {
  const { accessModes: modes = [], selector, storageClassName = "", volumeMode, volumeAttributesClassName = "" } = spec;
  if (modes.length === 0) errors.required(`${path}.accessModes`, "at least 1 access mode is required");
  if (selector)
    validateLabelSelector(selector, `${path}.selector`, errors, { anyValues: rules.anySelectorValue ?? false });
  validateAccessModes(modes, `${path}.accessModes`, errors);
  validateStorage(spec, `${path}.resources[storage]`, errors);
  if (storageClassName !== "")
    addInvalid(errors, `${path}.storageClassName`, storageClassName, dnsSubdomainProblems(storageClassName));
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode))
    errors.notSupported(`${path}.volumeMode`, volumeMode, volumeModes);
  validateDataSources(spec, path, rules, errors);
  addInvalid(
    errors,
    `${path}.volumeAttributesClassName`,
    volumeAttributesClassName,
    volumeAttributesClassName === "" ? [] : dnsSubdomainProblems(volumeAttributesClassName),
  );
}

/** Validates the access modes of a claim or a persistent volume. @param path of the list */
export function validateAccessModes(modes: readonly string[], path: string, errors: FieldErrors): void {
  for (const mode of modes) if (!accessModes.includes(mode)) errors.notSupported(path, mode, accessModes);
  const isOfOnePod = modes.includes("ReadWriteOncePod");
  if (isOfOnePod && modes.some((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode))) {
    errors.forbidden(path, "may not use ReadWriteOncePod with other access modes");
  }
}

function validateStorage({ resources }: Part, path: string, errors: FieldErrors): void {
  const storage = resources?.requests?.storage;
  if (storage === undefined) errors.required(path);
  else if (storage === "0" || storage.startsWith("-")) errors.invalid(path, storage, "must be greater than zero");
  else validateResourceQuantity("storage", storage, path, errors);
}

/** `dataSource` and its successor `dataSourceRef`. */
function validateDataSources(
  { dataSource, dataSourceRef }: Part,
  path: string,
  rules: ClaimRules,
  errors: FieldErrors,
): void {
  if (dataSource) validateDataSource(dataSource, `${path}.dataSource`, rules, errors);
  if (dataSourceRef) validateDataSource(dataSourceRef, `${path}.dataSourceRef`, rules, errors);
  const namespace = dataSourceRef?.namespace ?? "";
  if (namespace !== "") addInvalid(errors, `${path}.dataSourceRef.namespace`, namespace, dnsLabelProblems(namespace));
  if (!dataSource || !dataSourceRef) return;
  if (namespace !== "") errors.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified");
  else if (["apiGroup", "kind", "name"].some((field) => dataSource[field] !== dataSourceRef[field])) {
    errors.invalid(path, {}, "must match dataSourceRef");
  }
}

function validateDataSource(
  { apiGroup = "", kind = "", name = "" }: Part,
  path: string,
  rules: ClaimRules,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(`${path}.name`);
  if (kind === "") errors.required(`${path}.kind`);
  if (apiGroup === "" && kind !== "PersistentVolumeClaim") {
    errors.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (apiGroup !== "" && !rules.anySourceGroup)
    addInvalid(errors, `${path}.apiGroup`, apiGroup, dnsSubdomainProblems(apiGroup));
}

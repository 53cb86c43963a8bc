/**
 * VolumeAttributesClass: attributes of volumes that can be changed.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/storage/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/storage/volumeattributesclass`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { metaCells } from "../column.ts";
import { volumeAttributesClassColumns } from "./columns.ts";
import { validateDriver, validateParameters } from "./parameters.ts";

/** The strategy of VolumeAttributesClass. */
export const volumeAttributesClass = strategy({
  columns: volumeAttributesClassColumns,
  cellPaths: [...metaCells, "metadata.annotations", "*"],
  isolatesStatus: false,
  validate,
  validateUpdate(next, old, errors) {
    if ((next.driverName ?? "") !== (old.driverName ?? ""))
      errors.forbidden("driverName", "updates to driverName are forbidden.");
    if (!deepEqual(next.parameters ?? {}, old.parameters ?? {}))
      errors.forbidden("parameters", "updates to parameters are forbidden.");
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
    validate(next, errors);
  },
});

function validate({ driverName = "", parameters = {} }: KubeObject, errors: FieldErrors): void {
  validateDriver(driverName, "driverName", errors);
  validateParameters(parameters, errors);
  if (Object.keys(parameters).length === 0) errors.required("parameters", "must contain at least one key/value pair");
}

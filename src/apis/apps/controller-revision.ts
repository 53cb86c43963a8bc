/**
 * ControllerRevision: its data is immutable.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/apps/validation/validation.go
 */

import { validateMetaAgainIfNeeded } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { isObject } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { metaCells } from "../column.ts";
import { checkNonNegative } from "../fields.ts";
import { controllerRevisionColumns } from "./columns.ts";

/** Validates the data and its immutability. */
export const controllerRevision = strategy({
  columns: controllerRevisionColumns,
  cellPaths: [...metaCells, "metadata.ownerReferences", "revision"],
  isolatesStatus: false,
  validate(object, errors) {
    const { data = null, revision } = object;
    checkNonNegative(revision, "revision", errors);
    if (data === null) errors.required("data", "data is mandatory");
    else if (!isObject(data)) errors.required("data", "data must be a valid JSON object");
  },
  validateUpdate(next, old, errors) {
    validateMetaAgainIfNeeded(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    checkNonNegative(next.revision, "revision", errors);
    // Upstream compares the bytes, in which members have an order.
    if (encodeAny(next.data ?? null) !== encodeAny(old.data ?? null))
      errors.invalid("data", next.data ?? null, "field is immutable");
  },
});

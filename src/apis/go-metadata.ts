/**
 * Formats metadata as Go does inside another type: with JSON names, in Go's order, without unset
 * fields.
 */

import { isWithoutItems } from "../catalog/go-equality.ts";
import { isObject } from "../lib/json/values.ts";
import type { Part } from "./fields.ts";
import { byName } from "./label-selector.ts";

/**
 * The fields of ObjectMeta, in Go's order.
 * Source: `k8s.io/apimachinery@v0.36.0/pkg/apis/meta/v1/types.go`.
 */
export const metaFields: readonly string[] = [
  ...[
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
  ],
  ...["deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers", "managedFields"],
];

/** Converts metadata to the form in upstream's error messages. */
export function metadataInGo(metadata: Part = {}): Part {
  const shown: Part = {};
  for (const field of metaFields) {
    const value = metadata[field];
    const isZero = value === 0 && field !== "deletionGracePeriodSeconds"; // A pointer in Go.
    if (value === undefined || value === null || value === "" || isZero || isWithoutItems(value)) continue;
    shown[field] = isObject(value) ? byName(value) : value;
  }
  return shown;
}

/**
 * Structured merge: tracks which manager owns which fields of an object, and merges applied intents.
 * Start with `applyIntent` and `updateManagers`. See README.md.
 * Source: https://github.com/kubernetes-sigs/structured-merge-diff.
 *
 * @packageDocumentation
 */

export { type Comparison, compare } from "./compare.ts";
export type { Written } from "./equal.ts";
export { fieldSetOf } from "./field-set.ts";
export {
  decodeFieldsV1,
  encodeFieldsV1,
  FieldsV1Error,
  fieldElement,
  formatPath,
  indexElement,
  keyElement,
  valueElement,
} from "./fields-v1.ts";
export { merge } from "./merge.ts";
export { reconcile } from "./reconcile.ts";
export { extractItems, removeItems } from "./remove.ts";
export type { Any, Field, List, MapType, Scalar, ScalarKind, Struct, Type } from "./schema.ts";
export {
  countPaths,
  difference,
  emptySet,
  equalSets,
  has,
  intersection,
  isEmpty,
  isSubset,
  leaves,
  type PathNode,
  type PathSet,
  pathSetOf,
  paths,
  recursiveDifference,
  union,
} from "./set.ts";
export { depthMax, type ForeignTexts, ForeignValue, type PlainMap, TypedError } from "./typed.ts";
export {
  ApplyConflict,
  applyIntent,
  type ManagedSet,
  type ManagerConflict,
  type Managers,
  type MergeContext,
  updateManagers,
  type Versioned,
} from "./updater.ts";
export { validateIntent } from "./validate.ts";

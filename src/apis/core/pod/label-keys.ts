/**
 * Validation of `matchLabelKeys` and `mismatchLabelKeys` in affinity terms and spread constraints.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";

const withoutSelector = "must not be specified when labelSelector is not set";
const inBoth = "exists in both matchLabelKeys and labelSelector";

/**
 * Keys that are merged into a selector: of an affinity term, or of a spread constraint.
 *
 * @param path of the term
 */
export function validateLabelKeys(term: Part, path: string, errors: FieldErrors): void {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = term;
  if (matchLabelKeys.length === 0 && mismatchLabelKeys.length === 0) return;
  checkKeys(matchLabelKeys, `${path}.matchLabelKeys`, labelSelector, errors);
  checkKeys(mismatchLabelKeys, `${path}.mismatchLabelKeys`, labelSelector, errors);
  if (labelSelector) checkSelectedTwice(matchLabelKeys, labelSelector, path, errors);
  const mismatched = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (mismatched.has(key)) {
      errors.invalid(`${path}.matchLabelKeys[${index}]`, key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  }
}

function checkKeys(keys: readonly string[], path: string, selector: Part | undefined, errors: FieldErrors): void {
  if (keys.length === 0) return;
  if (!selector) return errors.forbidden(path, withoutSelector);
  for (const [index, key] of keys.entries()) addInvalid(errors, `${path}[${index}]`, key, qualifiedNameProblems(key));
}

/** The merge adds each key once. A key that occurs twice was in the selector before. */
function checkSelectedTwice(keys: readonly string[], selector: Part, path: string, errors: FieldErrors): void {
  const places = new Map(keys.map((key, index) => [key, index]));
  const selected = new Set(Object.keys(selector.matchLabels ?? {}));
  for (const { key = "" } of items(selector.matchExpressions)) {
    const place = places.get(key);
    if (place !== undefined && selected.has(key)) errors.invalid(`${path}[${place}]`, key, inBoth);
    selected.add(key);
  }
}

/** Keys of a spread constraint that are not merged. @param path of the constraint */
export function validateSpreadKeys(
  { matchLabelKeys = [], labelSelector }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (matchLabelKeys.length === 0) return;
  const at = `${path}.matchLabelKeys`;
  if (!labelSelector) errors.forbidden(at, withoutSelector);
  const selected = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...items(labelSelector?.matchExpressions).map(({ key = "" }) => key),
  ]);
  for (const [index, key] of matchLabelKeys.entries()) {
    addInvalid(errors, `${at}[${index}]`, key, qualifiedNameProblems(key));
    if (selected.has(key)) errors.invalid(`${at}[${index}]`, key, inBoth);
  }
}

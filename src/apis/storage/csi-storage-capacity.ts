/**
 * CSIStorageCapacity: the capacity of a storage class for volumes.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/storage/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/storage/csistoragecapacity`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { identical } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { compareQuantities, formatQuantity, parseQuantity, zeroQuantity } from "../../lib/quantity/quantity.ts";
import { nodeLabelDeprecation, warnOfNodeSelectorTerm } from "../core/pod/node-labels.ts";
import { isSoundSelector, type SelectorRules, shownSelector, validateLabelSelector } from "../label-selector.ts";

/** The strategy of CSIStorageCapacity. */
export const csiStorageCapacity = strategy({
  isolatesStatus: false,
  repeatsMetaRules: false,
  validate: (object, errors) => validate(object, {}, errors),
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validate(next, { anyValues: !isSoundSelector(old.nodeTopology ?? {}) }, errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    const shown = ({ nodeTopology }: KubeObject): unknown =>
      nodeTopology === undefined ? null : shownSelector(nodeTopology);
    if (!identical(shown(next), shown(old))) errors.invalid("nodeTopology", shown(next), "field is immutable");
    const { storageClassName = "" } = next;
    if (storageClassName !== (old.storageClassName ?? ""))
      errors.invalid("storageClassName", storageClassName, "field is immutable");
  },
  warnings({ nodeTopology = {} }) {
    const warnings: string[] = [];
    warnOfNodeSelectorTerm(nodeTopology, "nodeTopology", warnings);
    for (const key of Object.keys(nodeTopology.matchLabels ?? {}).sort()) {
      const text = nodeLabelDeprecation(key);
      if (text !== undefined) warnings.push(`nodeTopology.matchLabels.${key}: ${text}`);
    }
    return warnings;
  },
});

function validate(
  { nodeTopology, storageClassName = "", capacity }: KubeObject,
  rules: SelectorRules,
  errors: FieldErrors,
): void {
  if (nodeTopology !== undefined) validateLabelSelector(nodeTopology, "nodeTopology", errors, rules);
  addInvalid(errors, "storageClassName", storageClassName, dnsSubdomainProblems(storageClassName));
  if (capacity === undefined) return;
  const quantity = parseQuantity(String(capacity));
  if (compareQuantities(quantity, zeroQuantity) < 0)
    errors.invalid("capacity", formatQuantity(quantity), "must be greater than or equal to 0");
}

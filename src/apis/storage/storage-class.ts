/**
 * StorageClass: how volumes are provisioned.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/storage/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/storage/storageclass`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { metaCells } from "../column.ts";
import { nodeLabelDeprecation } from "../core/pod/node-labels.ts";
import { checkImmutable, items, type Part } from "../fields.ts";
import { byName } from "../label-selector.ts";
import { storageClassColumns } from "./columns.ts";
import { validateDriver, validateParameters } from "./parameters.ts";

/** The strategy of StorageClass. */
export const storageClass = strategy({
  columns: storageClassColumns,
  cellPaths: [...metaCells, "metadata.annotations", "*"],
  isolatesStatus: false,
  repeatsMetaRules: false,
  declarative: {},
  setDefaults(object) {
    object.reclaimPolicy ??= "Delete";
    object.volumeBindingMode ??= "Immediate";
  },
  validate,
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
    validate(next, errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    const immutable = errors.covered("immutable");
    checkImmutable(shownParameters(next), shownParameters(old), "parameters", immutable);
    checkImmutable(next.provisioner ?? "", old.provisioner ?? "", "provisioner", immutable);
    checkImmutable(next.reclaimPolicy, old.reclaimPolicy, "reclaimPolicy", immutable);
    checkImmutable(next.volumeBindingMode, old.volumeBindingMode, "volumeBindingMode", immutable);
  },
  warnings(object) {
    const warnings: string[] = [];
    for (const [index, term] of items(object.allowedTopologies).entries()) {
      for (const [at, { key = "" }] of items(term.matchLabelExpressions).entries()) {
        const advice = nodeLabelDeprecation(key);
        if (advice !== undefined)
          warnings.push(`allowedTopologies[${index}].matchLabelExpressions[${at}].key: ${advice}`);
      }
    }
    return warnings;
  },
});

const shownParameters = ({ parameters }: KubeObject): Part | null =>
  parameters === undefined ? null : byName(parameters);

function validate(object: KubeObject, errors: FieldErrors): void {
  const { provisioner = "", parameters = {}, reclaimPolicy = "", volumeBindingMode } = object;
  validateDriver(provisioner, "provisioner", errors);
  validateParameters(parameters, errors);
  if (!["", "Delete", "Retain"].includes(reclaimPolicy))
    errors.notSupported("reclaimPolicy", reclaimPolicy, ["Delete", "Retain"]);
  const modes = ["Immediate", "WaitForFirstConsumer"];
  if (volumeBindingMode === undefined) errors.required("volumeBindingMode");
  else if (!modes.includes(volumeBindingMode)) errors.notSupported("volumeBindingMode", volumeBindingMode, modes);
  validateTopologies(items(object.allowedTopologies), errors);
}

/** Reports equal terms. */
function validateTopologies(terms: readonly Part[], errors: FieldErrors): void {
  /** How many terms have the same expressions. Upstream reports a term without any as often as there are terms, too. */
  const seen = new Map([["[]", terms.length]]);
  for (const [index, term] of terms.entries()) {
    const path = `allowedTopologies[${index}].matchLabelExpressions`;
    const values = new Map<string, string[]>();
    for (const [at, requirement] of items(term.matchLabelExpressions).entries())
      validateRequirement(requirement, `${path}[${at}]`, values, errors);
    const own = JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
    const others = seen.get(own) ?? 0;
    for (let other = 0; other < others && !errors.full; other++) errors.duplicate(path, "");
    seen.set(own, others + 1);
  }
}

function validateRequirement(
  { key = "", values = [] }: Part,
  path: string,
  known: Map<string, string[]>,
  errors: FieldErrors,
): void {
  if (values.length === 0) errors.required(`${path}.values`);
  const distinct = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (distinct.has(value)) errors.duplicate(`${path}.values[${index}]`, value);
    distinct.add(value);
  }
  addInvalid(errors, `${path}.key`, key, qualifiedNameProblems(key));
  if (known.has(key)) errors.duplicate(`${path}.key`, key);
  known.set(key, [...distinct].sort());
}

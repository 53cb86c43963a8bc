/**
 * CSINode: the volume drivers of a node.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/storage/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/storage/csinode`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { goForm } from "../../catalog/go-form.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { checkNonNegative, items, type Part } from "../fields.ts";
import { csiNodeColumns } from "./columns.ts";
import { validateCsiDriverName } from "./driver-name.ts";

const idBytesMax = 256;

/** The strategy of CSINode. */
export const csiNode = strategy({
  columns: csiNodeColumns,
  isolatesStatus: false,
  repeatsMetaRules: false,
  validate,
  validateUpdate(next, old, errors, { gates }) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
    validate(next, errors);
    const form = gates.enabled("MutableCSINodeAllocatableCount") ? shownFixed : shown;
    for (const before of items(old.spec?.drivers)) {
      for (const driver of items(next.spec?.drivers)) {
        if (driver.name !== before.name || deepEqual(form(driver), form(before))) continue;
        errors.invalid("spec.drivers", form(driver), "field is immutable");
      }
    }
  },
});

const shown = (driver: Part): Part => goForm("CSINodeDriver", driver);
/** A driver without the maximum number of volumes, which may change. */
const shownFixed = (driver: Part): Part => ({ ...shown(driver), Allocatable: null });

function validate(object: KubeObject, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, driver] of items(object.spec?.drivers).entries()) {
    const path = `spec.drivers[${index}]`;
    validateDriver(driver, path, errors);
    const { name = "", topologyKeys = [] } = driver;
    if (names.has(name)) errors.duplicate(`${path}.name`, name);
    names.add(name);
    validateKeys(topologyKeys, path, errors);
  }
}

function validateDriver({ name = "", nodeID = "", allocatable }: Part, path: string, errors: FieldErrors): void {
  validateCsiDriverName(name, `${path}.name`, errors);
  if (nodeID === "") errors.required(`${path}.nodeID`);
  if (Buffer.byteLength(nodeID) > idBytesMax)
    errors.invalid(`${path}.nodeID`, nodeID, `must be ${idBytesMax} characters or less`);
  checkNonNegative(allocatable?.count, `${path}.allocatable.count`, errors);
}

function validateKeys(keys: readonly string[], path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === "") errors.required(path);
    if (seen.has(key)) errors.duplicate(path, key);
    seen.add(key);
    addInvalid(errors, path, key, qualifiedNameProblems(key));
  }
}

/**
 * IPAddress: an allocated address and the object that has it.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/networking/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/networking/ipaddress`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { formatGroupResource, type KubeObject } from "../../apimachinery/object.ts";
import { ipProblems } from "../../apimachinery/validation/ip.ts";
import { addInvalid, validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { nameColumn } from "../../catalog/common-columns.ts";
import { goForm } from "../../catalog/go-form.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { dnsSubdomainProblems, pathSegmentNameProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { checkImmutable, type Part } from "../fields.ts";
import { requireSegment } from "./reference.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const ipAddressColumns: readonly Column[] = [
  nameColumn,
  text(
    "ParentRef",
    "ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.",
    parent,
  ),
];

/** The strategy of IPAddress. */
export const ipAddress = strategy({
  columns: ipAddressColumns,
  isolatesStatus: false,
  repeatsMetaRules: false,
  validateName: ipProblems,
  generatesNames: false,
  declarative: {},
  validate: (object, errors) => validateParent(object.spec?.parentRef, "spec.parentRef", errors),
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: ipProblems }, errors);
    validateParent(next.spec?.parentRef, "spec.parentRef", errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    checkImmutable(
      shown(next.spec?.parentRef),
      shown(old.spec?.parentRef),
      "spec.parentRef",
      errors.covered("immutable"),
    );
  },
});

const shown = (parent: Part | undefined): Part | null =>
  parent === undefined ? null : goForm("ParentReference", parent);

function validateParent(parent: Part | undefined, path: string, errors: FieldErrors): void {
  if (parent === undefined) return errors.covered().required(path);
  const { group = "", resource = "", name = "", namespace = "" } = parent;
  if (group !== "") addInvalid(errors, `${path}.group`, group, dnsSubdomainProblems(group));
  requireSegment(resource, `${path}.resource`, errors);
  requireSegment(name, `${path}.name`, errors);
  if (namespace !== "") addInvalid(errors, `${path}.namespace`, namespace, pathSegmentNameProblems(namespace));
}

function parent({ spec }: KubeObject): string {
  if (spec?.parentRef === undefined) return "<none>";
  const { group = "", resource = "", namespace = "", name = "" } = spec.parentRef;
  return [formatGroupResource({ group, resource }).toLowerCase(), ...(namespace === "" ? [] : [namespace]), name].join(
    "/",
  );
}

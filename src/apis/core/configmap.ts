/**
 * ConfigMap: keys are valid file names, values have at most 1 MiB, `immutable` is permanent.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgainIfNeeded } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { configMapKeyProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { count, metaCells, text } from "../column.ts";
import { checkImmutableValues, decodedBytes, entries, valuesBytesMax } from "./key-values.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const configMapColumns: readonly Column[] = [
  nameColumn,
  text(
    "Data",
    "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
    ({ data, binaryData }) => count(data) + count(binaryData),
  ),
  ageColumn,
];

/** Strategy of `configmaps`. */
export const configMap = strategy({
  columns: configMapColumns,
  cellPaths: [...metaCells, "data.*", "binaryData.*"],
  isolatesStatus: false,
  validate,
  validateUpdate(next, old, errors) {
    checkImmutableValues(next, old, ["data", "binaryData"], errors);
    validateMetaAgainIfNeeded(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validate(next, errors);
  },
});

function validate(object: KubeObject, errors: FieldErrors): void {
  let bytes = 0;
  for (const [key, value] of entries(object.data)) {
    addInvalid(errors, `data[${key}]`, key, configMapKeyProblems(key));
    if (object.binaryData && Object.hasOwn(object.binaryData, key))
      errors.invalid(`data[${key}]`, key, "duplicate of key present in binaryData");
    bytes += Buffer.byteLength(value);
  }
  for (const [key, value] of entries(object.binaryData)) {
    addInvalid(errors, `binaryData[${key}]`, key, configMapKeyProblems(key));
    bytes += decodedBytes(value);
  }
  if (bytes > valuesBytesMax) errors.tooLong("[]", valuesBytesMax); // Upstream's empty path.
}

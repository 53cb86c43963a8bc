/**
 * Validates the attributes of a device.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { goForm } from "../../catalog/go-form.ts";
import type { Part } from "../fields.ts";

const valueBytesMax = 64;

/** Semantic versions, https://semver.org, without the rules for their identifiers. */
const versionShape = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;

const lists = ["bools", "ints", "strings", "versions"];

export function validateAttribute(attribute: Part, path: string, errors: FieldErrors): void {
  const { string: text, version } = attribute;
  if (text !== undefined) checkLength(text, `${path}.string`, errors);
  if (version !== undefined) checkVersion(version, `${path}.version`, errors);
  for (const field of lists)
    if (attribute[field] !== undefined) validateValues(attribute[field], field, `${path}.${field}`, errors);
  const count = ["bool", "int", "string", "version", ...lists].filter((field) => attribute[field] !== undefined).length;
  if (count === 1) return;
  const hasEmpty = lists.some((field) => attribute[field]?.length === 0); // Declarative rules treat an empty list as absent.
  const union = hasEmpty ? errors : errors.covered("union");
  union.invalid(path, count === 0 ? "" : goForm("DeviceAttribute", attribute), "exactly one value must be specified");
}

function validateValues(values: readonly string[], field: string, path: string, errors: FieldErrors): void {
  if (values.length === 0) errors.invalid(path, values, "must not be empty if specified");
  for (const [index, value] of values.entries()) {
    if (field === "strings") checkLength(value, `${path}[${index}]`, errors);
    if (field === "versions") checkVersion(value, `${path}[${index}]`, errors);
  }
}

function checkLength(text: string, path: string, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > valueBytesMax) errors.tooLong(path, valueBytesMax);
}

function checkVersion(text: string, path: string, errors: FieldErrors): void {
  if (!isSemanticVersion(text)) errors.invalid(path, text, "must be a string compatible with semver.org spec 2.0.0");
  checkLength(text, path, errors);
}

function isSemanticVersion(text: string): boolean {
  const match = versionShape.exec(text);
  if (match === null) return false;
  const [preRelease, build] = [match[4]?.split(".") ?? [], match[5]?.split(".") ?? []];
  // Numbers have no leading zeros.
  return preRelease.every((part) => part !== "" && !/^0\d+$/.test(part)) && build.every((part) => part !== "");
}

/** Counts the values of attributes; each item of a list counts. */
export function countValues(attributes: Readonly<Record<string, Part>>): number {
  let count = 0;
  for (const attribute of Object.values(attributes))
    count += Math.max(1, ...[lists.reduce((sum, field) => sum + (attribute[field]?.length ?? 0), 0)]);
  return count;
}

export const hasLists = (attributes: Readonly<Record<string, Part>>): boolean =>
  Object.values(attributes).some((attribute) => lists.some((field) => attribute[field] !== undefined));

/**
 * Validates the names of a definition.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go,
 *         ValidateCustomResourceDefinitionNames
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { dns1035LabelProblems } from "../../lib/names/names.ts";
import type { DefinitionNames, DefinitionStatus } from "./definition.ts";

export function checkNames(names: DefinitionNames, path: string, errors: FieldErrors): void {
  const { plural = "", singular = "", kind = "", listKind = "", shortNames = [], categories = [] } = names;
  checkLabel(plural, `${path}.plural`, errors);
  checkLabel(singular, `${path}.singular`, errors);
  checkKind(kind, `${path}.kind`, errors);
  checkKind(listKind, `${path}.listKind`, errors);
  for (const [index, name] of shortNames.entries())
    checkLabel(name, `${path}.shortNames[${index}]`, errors, { required: true });
  if (kind !== "" && kind === listKind)
    errors.invalid(`${path}.listKind`, listKind, "kind and listKind may not be the same");
  for (const [index, name] of categories.entries())
    checkLabel(name, `${path}.categories[${index}]`, errors, { required: true });
}

export function checkAcceptedNames({ acceptedNames = {} }: DefinitionStatus, errors: FieldErrors): void {
  checkNames(acceptedNames, "status.acceptedNames", errors);
}

function checkLabel(name: string, path: string, errors: FieldErrors, { required } = { required: false }): void {
  const problems = name === "" && !required ? [] : dns1035LabelProblems(name);
  if (problems.length > 0) errors.invalid(path, name, problems.join(","));
}

function checkKind(kind: string, path: string, errors: FieldErrors): void {
  const problems = kind === "" ? [] : dns1035LabelProblems(kind.toLowerCase());
  if (problems.length > 0)
    errors.invalid(path, kind, `may have mixed case, but should otherwise match: ${problems.join(",")}`);
}

/** References of networking kinds to objects of any kind. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems, pathSegmentNameProblems } from "../../lib/names/names.ts";
import type { Part } from "../fields.ts";

/** Reports the problems of a reference. */
export function validateReference({ apiGroup, kind = "", name = "" }: Part, path: string, errors: FieldErrors): void {
  if (apiGroup !== undefined) addInvalid(errors, `${path}.apiGroup`, apiGroup, dnsSubdomainProblems(apiGroup));
  requireSegment(kind, `${path}.kind`, errors);
  requireSegment(name, `${path}.name`, errors);
}

/** Requires a string that is a valid path segment. */
export function requireSegment(text: string, path: string, errors: FieldErrors): void {
  if (text === "") errors.covered().required(path);
  else addInvalid(errors, path, text, pathSegmentNameProblems(text));
}

/**
 * The formats of `+k8s:format`. Source: k8s.io/apimachinery@v0.36.0/pkg/api/validate/strfmt.go and
 * content/.
 */
import {
  labelValueProblems,
  longNameProblems,
  longNameProblemsOfAnyCase,
  pathSegmentNameProblems,
  qualifiedNameProblems,
  shortNameProblems,
} from "../../../lib/names/names.ts";
import type { FieldErrors } from "../../field-errors.ts";
import { addInvalid } from "../metadata.ts";

/** Reports the errors of a text. */
type Format = (text: string, path: string, errors: FieldErrors) => void;

const nameBytesMax = 253;
const domainBytesMax = 63;
const identifierBytesMax = 32;
const defaultDomain = "kubernetes.io/";
const quotaPrefix = "requests.";
const identifierPattern = "[A-Za-z_][A-Za-z0-9_]*";
const identifier = new RegExp(`^${identifierPattern}$`);
const identifierText =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' " +
  `(e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '${identifierPattern}')`;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function checkPoolName(text: string, path: string, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > nameBytesMax) errors.tooLong(path, nameBytesMax);
  for (const [index, part] of text.split("/").entries()) {
    if (part === "") errors.invalid(path, text, `segment ${index}: must not be empty`);
    else for (const problem of longNameProblems(part)) errors.invalid(path, part, `segment ${index}: ${problem}`);
  }
}

function checkExtendedResourceName(text: string, path: string, errors: FieldErrors): void {
  if (!text.includes("/"))
    errors.invalid(path, text, "a name must be a domain-prefixed path, such as 'example.com/my-prop'");
  else if (text.includes(defaultDomain)) errors.invalid(path, text, `must not have "${defaultDomain}" domain`);
  if (text.startsWith(quotaPrefix)) errors.invalid(path, text, `must not have "${quotaPrefix}" prefix`);
  addInvalid(errors, path, text, qualifiedNameProblems(quotaPrefix + text));
}

function checkFullyQualifiedName(text: string, path: string, errors: FieldErrors): void {
  const parts = text.split("/");
  const [first = "", second = ""] = parts;
  if (parts.length === 1) checkIdentifier(first, path, errors);
  if (parts.length === 2) {
    if (first === "") errors.invalid(path, "", "prefix must not be empty");
    else checkPrefix(first, path, errors);
    if (second === "") errors.invalid(path, "", "name must not be empty");
    else checkIdentifier(second, path, errors);
  }
  if (parts.length === 1)
    errors.invalid(path, text, "a fully qualified name must be a domain and a name separated by a slash");
}

function checkPrefix(prefix: string, path: string, errors: FieldErrors): void {
  if (Buffer.byteLength(prefix) > domainBytesMax) errors.tooLong(path, domainBytesMax);
  for (const problem of longNameProblems(prefix)) errors.invalid(path, prefix, `prefix: ${problem}`);
}

function checkIdentifier(text: string, path: string, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > identifierBytesMax) errors.tooLong(path, identifierBytesMax);
  if (!identifier.test(text)) errors.invalid(path, text, identifierText);
}

const byProblems =
  (problemsOf: (text: string) => string[]): Format =>
  (text, path, errors) =>
    addInvalid(errors, path, text, problemsOf(text));

/** The formats by name. */
export const formats: ReadonlyMap<string, Format> = new Map([
  ["k8s-extended-resource-name", checkExtendedResourceName],
  ["k8s-label-key", byProblems(qualifiedNameProblems)],
  ["k8s-label-value", byProblems(labelValueProblems)],
  ["k8s-long-name", byProblems(longNameProblems)],
  ["k8s-long-name-caseless", byProblems(longNameProblemsOfAnyCase)],
  ["k8s-path-segment-name", byProblems((text) => pathSegmentNameProblems(text))],
  ["k8s-resource-fully-qualified-name", checkFullyQualifiedName],
  ["k8s-resource-pool-name", checkPoolName],
  ["k8s-short-name", byProblems(shortNameProblems)],
  ["k8s-uuid", byProblems((text) => (uuid.test(text) ? [] : ["must be a lowercase UUID in 8-4-4-4-12 format"]))],
]);

/**
 * Validates the names of drivers, pools, devices and attributes.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { validateCsiDriverName } from "../storage/driver-name.ts";

export { validateCsiDriverName as validateDriverName };

const poolBytesMax = 253;
const identifierBytesMax = 32;
/** A domain, a slash and an identifier. */
export const qualifiedBytesMax = 63 + 1 + identifierBytesMax;

const identifier = "[A-Za-z_][A-Za-z0-9_]*";
const wholeIdentifier = new RegExp(`^${identifier}$`);
const identifierText = `a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '${identifier}')`;

/** Validates the name of a device, a request or a counter. */
export function validateLabelName(name: string, path: string, errors: FieldErrors): void {
  addInvalid(errors, path, name, dnsLabelProblems(name));
}

export function validatePoolName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") return errors.covered().required(path);
  const covered = errors.covered("format=k8s-resource-pool-name");
  if (Buffer.byteLength(name) > poolBytesMax) covered.tooLong(path, poolBytesMax);
  for (const part of name.split("/")) addInvalid(covered, path, part, dnsSubdomainProblems(part));
}

export function validateClassName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") errors.covered().required(path);
  else addInvalid(errors.covered("format=k8s-long-name"), path, name, dnsSubdomainProblems(name));
}

/**
 * Validates `driver.example.com/name` or a name alone. As upstream, accepts names with several
 * slashes.
 */
export function validateQualifiedName(name: string, path: string, errors: FieldErrors): void {
  const parts = name.split("/");
  const [first = "", second = ""] = parts;
  if (parts.length === 1) return validateIdentifier(first, path, errors);
  if (parts.length > 2) return;
  if (first === "") errors.invalid(path, "", "the domain must not be empty");
  else validateCsiDriverName(first, path, errors.uncovered());
  if (second === "") errors.invalid(path, "", "the name must not be empty");
  else validateIdentifier(second, path, errors);
}

export function validateFullName(name: string, path: string, errors: FieldErrors): void {
  validateQualifiedName(name, path, errors);
  if (!name.includes("/"))
    errors.invalid(path, typedText(name), "a fully qualified name must be a domain and a name separated by a slash");
}

function validateIdentifier(name: string, path: string, errors: FieldErrors): void {
  if (Buffer.byteLength(name) > identifierBytesMax) errors.tooLong(path, identifierBytesMax);
  if (!wholeIdentifier.test(name)) errors.invalid(path, name, identifierText);
}

const normalForm =
  "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";

export function validateUid(uid: string, path: string, errors: FieldErrors): void {
  const problem = uidProblem(uid);
  const covered = errors.covered("format=k8s-uuid");
  if (problem !== undefined) covered.invalid(path, uid, `error validating uid: ${problem}`);
  else if (Buffer.byteLength(uid) !== 36 || uid !== uid.toLowerCase()) covered.invalid(path, uid, normalForm);
}

/** @returns the message of github.com/google/uuid; undefined for a valid uid */
function uidProblem(text: string): string | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes === 32) return /^[0-9a-f]{32}$/i.test(text) ? undefined : "invalid UUID format";
  if (bytes === 45 && text.slice(0, 9).toLowerCase() !== "urn:uuid:")
    return `invalid urn prefix: ${quoteGo(text.slice(0, 9))}`;
  if (bytes === 38 && !/^\{.*\}$/s.test(text)) return "invalid bracketed UUID format";
  if (bytes !== 36 && bytes !== 38 && bytes !== 45) return `invalid UUID length: ${bytes}`;
  const core = bytes === 36 ? text : bytes === 38 ? text.slice(1, -1) : text.slice(9);
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(core)
    ? undefined
    : "invalid UUID format";
}

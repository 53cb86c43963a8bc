/**
 * Driver and parameters of volume classes. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/storage/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";

const parametersMax = 512;
const parameterBytesMax = 256 * 1024;

/** Reports the problems of a driver: a case-insensitive qualified name. */
export function validateDriver(name: string, path: string, errors: FieldErrors): void {
  if (name === "") errors.covered().required(path);
  else addInvalid(errors, path, name.toLowerCase(), qualifiedNameProblems(name.toLowerCase()));
}

/** Reports too many or too large parameters. */
export function validateParameters(parameters: Readonly<Record<string, string>>, errors: FieldErrors): void {
  const entries = Object.entries(parameters);
  if (entries.length > parametersMax) return errors.tooLong("parameters", parametersMax);
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === "") errors.invalid("parameters", "", "field can not be empty.");
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > parameterBytesMax) errors.tooLong("parameters", parameterBytesMax);
}

/** What classes of volumes have in common: a driver and its parameters. Source: kubernetes' pkg/apis/storage/validation. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";

const parametersMax = 512;
const parameterBytesMax = 256 * 1024;

/** A qualified name in which case does not matter. */
export function validateDriver(name: string, path: string, errors: FieldErrors): void {
  if (name === "") errors.covered().required(path);
  else addInvalid(errors, path, name.toLowerCase(), qualifiedNameProblems(name.toLowerCase()));
}

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

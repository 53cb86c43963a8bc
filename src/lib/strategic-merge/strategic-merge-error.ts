/**
 * Errors of strategic merge patches, with upstream's messages. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/strategicpatch/patch.go.
 */
import { formatGoText, formatGoValue, goTypeOf } from "../json/go-value.ts";

/**
 * How the server reports an error. `format`: a malformed directive (400). `unprocessable`: a patch
 * that is not supported (422). `unforeseen`: any other error, which upstream reports as internal
 * (500).
 */
export type StrategicMergeFault = "format" | "unprocessable" | "unforeseen";

/** A patch that cannot be applied. */
export class StrategicMergeError extends Error {
  readonly fault: StrategicMergeFault;
  constructor(message: string, fault: StrategicMergeFault = "unforeseen") {
    super(message);
    this.name = "StrategicMergeError";
    this.fault = fault;
  }
}

/**
 * The error for a malformed directive.
 * @param what `primitive list`, `retainKeys` or `setElementOrder list`
 */
export function badFormat(what: string): StrategicMergeError {
  return new StrategicMergeError(`invalid patch format of ${what}`, "format");
}

/**
 * The error for a value of the wrong type.
 * @param expected the name of a type in Go
 */
export function badType(expected: string, actual: unknown): StrategicMergeError {
  return new StrategicMergeError(`expected a ${expected}, but received a ${goTypeOf(actual)}`);
}

/** The error for an element without its merge key. */
export function noMergeKey(item: unknown, mergeKey: string): StrategicMergeError {
  return new StrategicMergeError(`map: ${formatGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}

/** The error for an unknown value of `$patch`. */
export function unknownDirective(directive: unknown, item: unknown): StrategicMergeError {
  return new StrategicMergeError(`unknown patch type: ${formatGoText(directive)} in map: ${formatGoValue(item)}`);
}

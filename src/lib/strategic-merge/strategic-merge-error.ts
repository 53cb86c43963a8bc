/** What a strategic merge patch is refused for, in upstream's words. */
import { formatGoText, formatGoValue, goTypeOf } from "../json/go-value.ts";

/**
 * `format`: a directive is written wrong (400). `unprocessable`: it asks for what there is not (422).
 * `unforeseen`: upstream has no answer of its own for it, and sends the text alone (500).
 */
export type StrategicMergeFault = "format" | "unprocessable" | "unforeseen";

export class StrategicMergeError extends Error {
  readonly fault: StrategicMergeFault;
  constructor(message: string, fault: StrategicMergeFault = "unforeseen") {
    super(message);
    this.name = "StrategicMergeError";
    this.fault = fault;
  }
}

/** @param what `primitive list`, `retainKeys` or `setElementOrder list` */
export function badFormat(what: string): StrategicMergeError {
  return new StrategicMergeError(`invalid patch format of ${what}`, "format");
}

/** @param expected a type as Go writes it */
export function badType(expected: string, actual: unknown): StrategicMergeError {
  return new StrategicMergeError(`expected a ${expected}, but received a ${goTypeOf(actual)}`);
}

export function noMergeKey(item: unknown, mergeKey: string): StrategicMergeError {
  return new StrategicMergeError(`map: ${formatGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}

export function unknownDirective(directive: unknown, item: unknown): StrategicMergeError {
  return new StrategicMergeError(`unknown patch type: ${formatGoText(directive)} in map: ${formatGoValue(item)}`);
}

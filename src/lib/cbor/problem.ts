/**
 * Problems of decoded items, with the messages of upstream's decoder. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/runtime/serializer/cbor, and its library
 * github.com/fxamacker/cbor.
 */
import { quoteGo } from "../json/quote.ts";
import { major, majorNames } from "./wire.ts";

/** A problem with an item. */
export type Problem =
  | { readonly kind: "other" | "unknown"; readonly message: string }
  /** A value of the wrong type. `field` is a field of the outermost struct. */
  | { readonly kind: "type"; readonly major: number; readonly goType: string; readonly extra?: string; field?: string };

/** The key of a map. Integers are bigint, floats are numbers. */
export type Key = string | number | bigint | boolean | null;

/** Formats a problem as upstream does. */
export function formatProblem(problem: Problem): string {
  if (problem.kind !== "type") return problem.message;
  const { major, goType, extra, field } = problem;
  const where = field === undefined ? "Go value" : `Go struct field ${field}`;
  return `cbor: cannot unmarshal ${majorNames[major]} into ${where} of type ${goType}${extra === undefined ? "" : ` (${extra})`}`;
}

/** A problem with a message of its own. */
export function other(message: string): Problem {
  return { kind: "other", message };
}

/** The problem of a field that the schema does not declare. */
export function unknownField(index: number): Problem {
  return { kind: "unknown", message: `cbor: found unknown field at map element index ${index}` };
}

/** The problem of a repeated key. */
export function duplicateKey(key: Key, index: number): Problem {
  const shown = typeof key === "string" ? quoteGo(key) : key === null ? "<nil>" : String(key);
  return other(`cbor: found duplicate map key ${shown} at map element index ${index}`);
}

/** The problem of a simple value other than false, true and null. */
export function unsupportedSimple(value: number): Problem {
  return other(
    `cbor: data item of cbor type primitives is not accepted by protocol: simple value ${value} is not recognized`,
  );
}

/** The problem of an item of a list that becomes bytes. */
export function problemOfByte(value: unknown): Problem | undefined {
  if (typeof value !== "number" || (value & 0xff) === value) return undefined;
  if (value < 0) return { kind: "type", major: major.negative, goType: "uint8" };
  return { kind: "type", major: major.positive, goType: "uint8", extra: `${value} overflows uint8` };
}

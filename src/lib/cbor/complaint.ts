/** What is wrong with an item, as upstream's decoder tells it. */
import { quoteGo } from "../json/quote.ts";
import { majorNames } from "./wire.ts";

export type Complaint =
  | { readonly kind: "other" | "unknown"; readonly message: string }
  /** `field` is the one of the outermost struct. */
  | { readonly kind: "type"; readonly major: number; readonly goType: string; readonly extra?: string; field?: string };

/** Of a map: integers are bigint, floats numbers. */
export type Key = string | number | bigint | boolean | null;

export function complaintText(complaint: Complaint): string {
  if (complaint.kind !== "type") return complaint.message;
  const { major, goType, extra, field } = complaint;
  const where = field === undefined ? "Go value" : `Go struct field ${field}`;
  return `cbor: cannot unmarshal ${majorNames[major]} into ${where} of type ${goType}${extra === undefined ? "" : ` (${extra})`}`;
}

export function other(message: string): Complaint {
  return { kind: "other", message };
}

export function unknownField(index: number): Complaint {
  return { kind: "unknown", message: `cbor: found unknown field at map element index ${index}` };
}

export function duplicateKey(key: Key, index: number): Complaint {
  const shown = typeof key === "string" ? quoteGo(key) : key === null ? "<nil>" : String(key);
  return other(`cbor: found duplicate map key ${shown} at map element index ${index}`);
}

/** @param value of a simple value, which are all refused but false, true and null */
export function strangeSimple(value: number): Complaint {
  return other(
    `cbor: data item of cbor type primitives is not accepted by protocol: simple value ${value} is not recognized`,
  );
}

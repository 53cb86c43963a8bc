/**
 * Annotations that replace removed fields of int64. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/apis/apps/v1/conversion.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { type Integer, toInteger } from "../../lib/json/values.ts";

/**
 * Parses the value of an annotation.
 * @param unreadable makes the error from Go's text
 */
export function annotatedInteger(text: string, unreadable: (why: string) => Error): Integer {
  const failed = (why: string): Error => unreadable(`strconv.ParseInt: parsing ${quoteGo(text)}: ${why}`);
  if (!/^[+-]?[0-9]{1,400}$/.test(text)) throw failed("invalid syntax");
  const value = BigInt(text.replace(/^\+/, ""));
  if (BigInt.asIntN(64, value) !== value) throw failed("value out of range");
  return toInteger(value);
}

/** Sets the annotation of a field. */
export function annotateInteger(object: KubeObject, name: string, value: Integer): void {
  object.metadata.annotations = { ...object.metadata.annotations, [name]: String(value) };
}

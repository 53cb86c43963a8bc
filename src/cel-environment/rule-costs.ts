/**
 * The estimated costs of all rules of a schema. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/cel_validation.go
 */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import { uint64Max } from "../lib/cel/index.ts";
import { type DeclType, type JsonSchema, maxRequestBytes } from "../lib/cel/schema-types/index.ts";
import { estimatedSchemaLimit } from "./limits.ts";

const reportedMax = 4;

/** Sums the costs of all rules of a schema. */
export class RuleCosts {
  #total = 0n;
  #expensive: { readonly path: string; readonly cost: bigint }[] = [];

  add(path: string, cost: bigint): void {
    this.#total = saturated(this.#total + cost);
    if (cost < estimatedSchemaLimit / 100n) return; // Only rules with at least 1 % of the limit are reported.
    this.#expensive.push({ path, cost });
    this.#expensive.sort((left, right) => (left.cost < right.cost ? 1 : left.cost > right.cost ? -1 : 0));
    this.#expensive.length = Math.min(this.#expensive.length, reportedMax);
  }

  /** Adds errors for the most expensive rules if the sum exceeds the limit. */
  report(path: string, errors: FieldErrors): void {
    if (this.#total <= estimatedSchemaLimit) return;
    for (const rule of this.#expensive) {
      errors.forbidden(
        rule.path,
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      );
    }
    const subject = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    errors.forbidden(path, tooExpensive(subject, this.#total, estimatedSchemaLimit));
  }
}

function saturated(value: bigint): bigint {
  return value > uint64Max ? uint64Max : value;
}

/** Multiplies two uint64, with the maximum of uint64 as the limit. */
export function timesSaturated(left: bigint, right: bigint): bigint {
  return saturated(left * right);
}

/** The maximum number of children of this schema node; undefined if unlimited. */
export function maxElements(schema: JsonSchema): bigint | undefined {
  const limited = (limit: number | bigint | undefined): bigint | undefined =>
    limit === undefined ? undefined : limit < 0 ? 0n : BigInt(limit);
  if (schema.type === "array") return limited(schema.maxItems);
  return schema.type === "object" && schema.additionalProperties !== undefined ? limited(schema.maxProperties) : 1n;
}

/** The maximum number of values of this type in a request, separated by commas. */
export function maxRepetitions(type: DeclType): bigint {
  return BigInt(Math.floor(maxRequestBytes / (type.minSerializedSize + 1)));
}

/** Returns the error message for a cost above its limit. */
export function tooExpensive(subject: string, cost: bigint, limit: bigint): string {
  const hint =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${subject} exceeds budget by factor of ${factor(Number(cost) / Number(limit))} (${hint})`;
}

/** Small factors have more decimal places, so that 1.000001 is not rounded to 1. */
function factor(times: number): string {
  if (times > 100) return "more than 100x";
  return times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`;
}

/** What rules may cost at worst: how often they run, how much is too much, and how that is said. Source: k8s.io/apiextensions-apiserver, cel_validation.go */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import { uint64Max } from "../lib/cel/index.ts";
import { type DeclType, type JsonSchema, maxRequestBytes } from "../lib/cel/schema-types/index.ts";
import { estimatedSchemaLimit } from "./limits.ts";

const toldMax = 4;

/** Sums up what all rules of a schema may cost. */
export class RuleCosts {
  #total = 0n;
  #expensive: { readonly path: string; readonly cost: bigint }[] = [];

  add(path: string, cost: bigint): void {
    this.#total = saturated(this.#total + cost);
    if (cost < estimatedSchemaLimit / 100n) return; // Of those that make up less than a hundredth, nobody is told.
    this.#expensive.push({ path, cost });
    this.#expensive.sort((left, right) => (left.cost < right.cost ? 1 : left.cost > right.cost ? -1 : 0));
    this.#expensive.length = Math.min(this.#expensive.length, toldMax);
  }

  /** When it is too much, tells which rules it comes from. */
  report(path: string, errors: FieldErrors): void {
    if (this.#total <= estimatedSchemaLimit) return;
    for (const rule of this.#expensive) {
      errors.forbidden(
        rule.path,
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      );
    }
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    errors.forbidden(path, tooExpensive(what, this.#total, estimatedSchemaLimit));
  }
}

function saturated(value: bigint): bigint {
  return value > uint64Max ? uint64Max : value;
}

export function timesSaturated(left: bigint, right: bigint): bigint {
  return saturated(left * right);
}

/** How often what stands in data of this schema may stand there; undefined when no limit says it. */
export function maxElements(schema: JsonSchema): bigint | undefined {
  const limited = (limit: number | bigint | undefined): bigint | undefined =>
    limit === undefined ? undefined : limit < 0 ? 0n : BigInt(limit);
  if (schema.type === "array") return limited(schema.maxItems);
  return schema.type === "object" && schema.additionalProperties !== undefined ? limited(schema.maxProperties) : 1n;
}

/** How often data of this type may stand in a request, a comma after each. */
export function maxRepetitions(type: DeclType): bigint {
  return BigInt(Math.floor(maxRequestBytes / (type.minSerializedSize + 1)));
}

export function tooExpensive(what: string, cost: bigint, limit: bigint): string {
  const hint =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${factor(Number(cost) / Number(limit))} (${hint})`;
}

/** Exact where rounding would say that nothing is exceeded; vague where the number says nothing. */
function factor(times: number): string {
  if (times > 100) return "more than 100x";
  return times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`;
}

/** Comparisons in filters. Source: k8s.io/client-go@v0.36.0/third_party/forked/golang/template */
import { NumberLiteral, TextByte } from "./go-kinds.ts";

/** @returns undefined for values of different kinds or an operator that their kind does not have */
export function compareValues(left: unknown, operator: string, right: unknown): boolean | undefined {
  const [a, b] = [comparable(left), comparable(right)];
  if (a === undefined || b === undefined || a.kind !== b.kind) return undefined;
  const isSame = a.value === b.value;
  if (operator === "==") return isSame;
  if (operator === "!=") return !isSame;
  if (a.kind === "bool") return undefined;
  const isLess =
    typeof a.value === "string"
      ? Buffer.compare(Buffer.from(a.value), Buffer.from(b.value as string)) < 0
      : a.value < b.value;
  switch (operator) {
    case "<":
      return isLess;
    case "<=":
      return isLess || isSame;
    case ">":
      return !isLess && !isSame;
    case ">=":
      return !isLess;
    default:
      return undefined;
  }
}

interface Comparable {
  readonly kind: "bool" | "integer" | "float" | "text";
  readonly value: boolean | number | bigint | string;
}

function comparable(value: unknown): Comparable | undefined {
  switch (typeof value) {
    case "boolean":
      return { kind: "bool", value };
    case "string":
      return { kind: "text", value };
    case "bigint":
      return { kind: "integer", value };
    case "number":
      return { kind: Number.isInteger(value) ? "integer" : "float", value };
    default:
      if (value instanceof TextByte) return { kind: "integer", value: value.value };
      return value instanceof NumberLiteral
        ? { kind: value.isFloat ? "float" : "integer", value: value.value }
        : undefined;
  }
}

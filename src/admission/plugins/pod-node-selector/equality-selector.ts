/**
 * Parses selectors that only compare, such as `a=b,c=d`.
 * Source: `ConvertSelectorToLabelsMap` in k8s.io/apimachinery@v0.36.0/pkg/labels/labels.go.
 */
import { plainError } from "../../../apimachinery/errors.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { labelValueProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";

/** @throws ApiError 500 with upstream's message, which names no field */
export function parseEqualitySelector(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  if (text === "") return labels;
  for (const label of text.split(",")) {
    const parts = label.split("=");
    const [key = "", value = ""] = parts.map((part) => part.trim());
    if (parts.length !== 2) throw plainError(`invalid selector: [${parts.join(" ")}]`);
    check("<nil>", key, qualifiedNameProblems(key));
    check(`[${key}]`, value, labelValueProblems(value));
    labels.set(key, value);
  }
  return labels;
}

function check(path: string, value: string, problems: readonly string[]): void {
  if (problems.length > 0) throw plainError(`${path}: Invalid value: ${quoteGo(value)}: ${problems.join("; ")}`);
}

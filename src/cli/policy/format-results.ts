/** Prints the results of `coxswain policy test`. */
import { plainValue } from "../../cel-environment/plain-value.ts";
import { CelList, CelObject, type CelValue } from "../../lib/cel/index.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { formatValue, jsonOf } from "../cel/format-value.ts";
import type { Evaluated } from "./evaluate-policy.ts";
import type { TestResult } from "./test-policies.ts";
import type { TestedRequest } from "./tested-request.ts";

/** Formats the results for a person. */
export function formatResults(results: readonly TestResult[]): string {
  const requests = [...new Set(results.map(({ request }) => request))];
  if (requests.length === 1) return results.map(formatResult).join("\n");
  return requests
    .map((request) => {
      const own = results.filter((result) => result.request === request);
      return [`${titleOf(request)}\n`, ...own.map(formatResult)].join("\n");
    })
    .join("\n");
}

function titleOf({ operation, kind, namespace, name }: TestedRequest): string {
  return `${operation} ${kind} ${namespace === "" ? name : `${namespace}/${name}`}:`;
}

function formatResult({ policy, binding, params, unmatched, evaluation, verdict }: TestResult): string {
  const parts = [
    `${policy.kind} ${policy.name}`,
    ...(binding === undefined ? [] : [`binding ${binding}`]),
    ...(params === undefined ? [] : [`parameters ${params}`]),
  ];
  const title = parts.join(", ");
  if (evaluation === undefined) return `${title}\n  does not match: ${unmatched}\n`;
  const { conditions, variables, expressions, mutated } = evaluation;
  const lines = [...conditions, ...variables, ...expressions].flatMap(formatExpression);
  const object = mutated === undefined ? [] : [`object  ${encodeAny(mutated)}`];
  const excluding = conditions.find(({ value }) => value === false);
  const outcome = verdict.outcome === "unmatched" ? `does not match: ${excluding?.field} is false` : verdict.outcome;
  return [
    title,
    ...[...lines, ...object, [outcome, ...verdict.messages].join(": ")].map((line) => `  ${line}`),
    "",
  ].join("\n");
}

function formatExpression({ field, value, error, cost }: Evaluated): string[] {
  const own = value === undefined ? [] : [`${field}  ${formatted(value)}  (cost ${cost})`];
  const problem = error === undefined ? [] : [`${field}  error: ${error.replaceAll("\n", "\n    ")}  (cost ${cost})`];
  return [...own, ...problem];
}

/** Objects and patches of mutations as JSON, other values as expressions. */
function formatted(value: CelValue): string {
  return isOfObjects(value) ? encodeAny(plainOf(value)) : formatValue(value);
}

function plainOf(value: CelValue): unknown {
  if (!(value instanceof CelList)) return plainValue(value);
  return Array.from({ length: value.size }, (_, at) => {
    const item = value.at(at);
    if (!(item instanceof CelObject) || item.typeName !== "JSONPatch") return plainValue(item);
    const fields = ["op", "path", "from", "value"].filter((name) => item.has(name) === true);
    return Object.fromEntries(fields.map((name) => [name, plainValue(item.field(name) as CelValue)]));
  });
}

function jsonValueOf(value: CelValue): unknown {
  return isOfObjects(value) ? plainOf(value) : JSON.parse(jsonOf(value));
}

function isOfObjects(value: CelValue): boolean {
  return value instanceof CelObject || (value instanceof CelList && value.size > 0 && value.at(0) instanceof CelObject);
}

/** Formats the results as a JSON list. */
export function resultsJson(results: readonly TestResult[]): string {
  const plain = results.map(({ policy, binding, params, request, unmatched, evaluation, verdict }) => ({
    kind: policy.kind,
    policy: policy.name,
    binding,
    params,
    request: { operation: request.operation, kind: request.kind, namespace: request.namespace, name: request.name },
    ...verdict,
    unmatched,
    expressions: [evaluation?.conditions ?? [], evaluation?.variables ?? [], evaluation?.expressions ?? []]
      .flat()
      .map(({ field, value, error, cost }) => ({
        field,
        value: value === undefined ? undefined : jsonValueOf(value),
        error,
        cost,
      })),
    object: evaluation?.mutated,
  }));
  return `${encodeAny(plain)}\n`;
}

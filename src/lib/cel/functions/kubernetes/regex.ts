/** Regular expression searches. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/regex.go */
import type { RE2JS } from "re2js";
import { sizeOrUnknown } from "../../cost/estimate.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { intType, listType, stringType } from "../../types.ts";
import { TextList } from "../../values/containers.ts";
import { CelFailure, fail } from "../../values/failure.ts";
import { plainPart } from "../../values/plain-pattern.ts";
import { compileRegex } from "../../values/regex.ts";
import type { CelInt, Result } from "../../values/value.ts";
import { matching } from "../costs.ts";
import { declare, member } from "../declare.ts";

function compiled(pattern: string): RE2JS | CelFailure {
  const regex = compileRegex(pattern);
  return regex instanceof CelFailure ? fail(`Illegal regex: ${regex.message}`) : regex;
}

/** Returns the first match, or an empty text. */
function find(text: string, pattern: string): Result {
  const regex = compiled(pattern);
  if (regex instanceof CelFailure) return regex;
  const matcher = regex.matcher(text);
  return matcher.find() ? (matcher.group() ?? "") : "";
}

/** As in Go, an empty match directly after a match does not count. @param limit negative for all */
function findAll(text: string, pattern: string, limit: CelInt = -1): Result {
  const most = limit < 0 ? Number.POSITIVE_INFINITY : Number(limit);
  const part = plainPart(pattern);
  if (part !== undefined) return new TextList((text.match(part) ?? []).slice(0, most));
  const regex = compiled(pattern);
  if (regex instanceof CelFailure) return regex;
  const matcher = regex.matcher(text);
  const found: string[] = [];
  let end = -1;
  while (found.length < most && matcher.find()) {
    if (matcher.end() === matcher.start() && matcher.start() === end) continue;
    found.push(matcher.group() ?? "");
    end = matcher.end();
  }
  return new TextList(found);
}

const two = [stringType, stringType];

/** In the worst case, every character is a match. */
const costs: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: matching.cost,
  estimate: (call) => {
    const estimate = matching.estimate?.(call);
    return estimate && { ...estimate, resultSize: { min: 0n, max: sizeOrUnknown(call.target).max } };
  },
};

const functions: readonly FunctionDeclaration[] = [
  declare("find", member("string_find_string", two, stringType, { evaluate: find })),
  declare(
    "findAll",
    member("string_find_all_string", two, listType(stringType), {
      evaluate: (text: string, pattern: string) => findAll(text, pattern),
    }),
    member("string_find_all_string_int", [...two, intType], listType(stringType), { evaluate: findAll }),
  ),
];

/** `find` and `findAll`. */
export const kubernetesRegex = library({ functions: functions.map((declared) => ({ ...declared, ...costs })) });

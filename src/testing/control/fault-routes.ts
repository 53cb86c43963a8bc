import { ApiError, badRequest } from "../../apimachinery/errors.ts";
import { isObject } from "../../lib/json/values.ts";
import { FaultRuleError } from "../faults/check-rule.ts";
import type { Fault, FaultHandle, FaultRule, Faults } from "../faults/contract.ts";
import { type Rules, rulesMax } from "../faults/rules.ts";
import type { ControlRoute } from "./contract.ts";

/**
 * `GET /testing/faults` and `GET /testing/faults/ID` read rules, `POST /testing/faults` adds all rules of a
 * body `{rules: [{match, fault}]}` or none, `DELETE` removes all, or one.
 */
export function faultRoutes(faults: Faults & Pick<Rules, "check">): readonly ControlRoute[] {
  return [
    { method: "GET", path: "faults", handle: () => ({ json: listOf(faults.list()) }) },
    {
      method: "POST",
      path: "faults",
      async handle({ body }) {
        const rules = readRules(await body(), faults);
        return { status: 201, json: listOf(rules.map(({ match, fault }) => faults.add(match, fault))) };
      },
    },
    {
      method: "DELETE",
      path: "faults",
      handle() {
        const removed = faults.list();
        faults.clear();
        return { json: listOf(removed) };
      },
    },
    { method: "GET", path: "faults/*", handle: ({ parameters: [id] }) => ({ json: shown(find(faults, id)) }) },
    {
      method: "DELETE",
      path: "faults/*",
      handle({ parameters: [id] }) {
        const found = find(faults, id);
        found.remove();
        return { json: shown(found) };
      },
    },
  ];
}

interface NewRule {
  readonly match: FaultRule;
  readonly fault: Fault;
}

/** @throws ApiError 400 */
function readRules(body: unknown, { list, check }: Pick<Rules, "list" | "check">): NewRule[] {
  if (!isObject(body) || !Array.isArray(body.rules) || Object.keys(body).length > 1)
    throw badRequest("the body must be an object with the field rules, a list");
  if (list().length + body.rules.length > rulesMax) throw badRequest(`rules: there can be ${rulesMax} at most`);
  try {
    return body.rules.map((rule: unknown, index) => readRule(rule, `rules[${index}]`, check));
  } catch (error) {
    if (error instanceof FaultRuleError) throw badRequest(error.message);
    throw error;
  }
}

/** @throws FaultRuleError */
function readRule(rule: unknown, field: string, check: Rules["check"]): NewRule {
  if (!isObject(rule)) throw new FaultRuleError(field, "must be an object with the fields match and fault");
  const unknown = Object.keys(rule).find((name) => name !== "match" && name !== "fault");
  if (unknown !== undefined) throw new FaultRuleError(`${field}.${unknown.slice(0, 50)}`, "is not known");
  const fields = { rule: `${field}.match`, fault: `${field}.fault` };
  const [match, fault] = check(rule.match ?? {}, rule.fault, fields);
  return { match, fault };
}

/** @throws ApiError 404 */
function find(faults: Faults, id: string | undefined): FaultHandle {
  const found = faults.list().find((one) => one.id === id);
  if (found === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "there is no such rule" });
  return found;
}

function listOf(rules: readonly FaultHandle[]): { readonly rules: readonly object[] } {
  return { rules: rules.map(shown) };
}

function shown({ id, rule, fault, hits }: FaultHandle): object {
  return { id, match: rule, fault, hits };
}

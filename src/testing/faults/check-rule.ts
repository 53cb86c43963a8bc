/** Checks rules, which can come from programs in other languages. */
import { isObject } from "../../lib/json/values.ts";
import type { Fault, FaultRule } from "./contract.ts";

/** A rule or a fault is not valid; the message names the field. */
export class FaultRuleError extends Error {
  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.name = "FaultRuleError";
  }
}

/** @throws FaultRuleError */
type Check = (value: unknown, field: string) => void;

/** Items of one list in a rule, and characters of one text. */
const textsMax = 100;
const textMax = 1000;
const latencyMsMax = 600_000;

const text: Check = (value, field) => {
  if (typeof value !== "string") throw new FaultRuleError(field, "must be a string");
  if (value.length > textMax) throw new FaultRuleError(field, `must have at most ${textMax} characters`);
};
const oneOrMore =
  (check: Check): Check =>
  (value, field) => {
    if (!Array.isArray(value)) return check(value, field);
    if (value.length === 0 || value.length > textsMax)
      throw new FaultRuleError(field, `must have between 1 and ${textsMax} items`);
    for (const [index, one] of value.entries()) check(one, `${field}[${index}]`);
  };
const texts = oneOrMore(text);
/** Of requests for resources, and methods of other paths. */
const verbs = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
  "proxy",
  "post",
  "put",
  "head",
  "options",
];
const verb: Check = (value, field) => {
  text(value, field);
  const name = value as string;
  if (!name.includes("*") && !verbs.includes(name))
    throw new FaultRuleError(
      field,
      `no request has the verb ${name.slice(0, 50)}: use ${verbs.join(", ")}, or a pattern with *`,
    );
};
const integer =
  (min: number, max: number): Check =>
  (value, field) => {
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max)
      throw new FaultRuleError(field, `must be a whole number between ${min} and ${max}`);
  };
const flag: Check = (value, field) => {
  if (typeof value !== "boolean") throw new FaultRuleError(field, "must be true or false");
};
const share: Check = (value, field) => {
  if (typeof value !== "number" || !(value >= 0 && value <= 1))
    throw new FaultRuleError(field, "must be a number between 0 and 1");
};
const oneOf =
  (...choices: readonly string[]): Check =>
  (value, field) => {
    if (!choices.includes(value as string)) throw new FaultRuleError(field, `must be one of ${choices.join(", ")}`);
  };

const countMax = 1_000_000_000;
const ruleFields: Readonly<Record<keyof FaultRule, Check>> = {
  user: texts,
  userAgent: texts,
  client: texts,
  verb: oneOrMore(verb),
  resource: texts,
  subresource: texts,
  name: texts,
  namespace: texts,
  after: integer(0, countMax),
  count: integer(1, countMax),
  probability: share,
  optional: flag,
  seed: integer(0, 2 ** 32 - 1),
};

const faultFields: Readonly<Record<Fault["type"], Readonly<Record<string, Check>>>> = {
  conflict: {},
  gone: {},
  tooManyRequests: { retryAfterSeconds: integer(1, 86_400) },
  internalError: { message: text },
  timeoutBeforeCommit: {},
  timeoutAfterCommit: {},
  latency: { ms: integer(0, latencyMsMax) },
  cutConnection: { when: oneOf("before", "after") },
  cutWatch: { events: integer(0, countMax), how: oneOf("drop", "end") },
  stallWatch: { events: integer(0, countMax) },
  missingBookmark: { which: oneOf("all", "initialEventsEnd") },
  staleRead: { changes: integer(1, countMax), ms: integer(1, countMax) },
};
const required: Readonly<Partial<Record<Fault["type"], readonly string[]>>> = { latency: ["ms"] };

/** @throws FaultRuleError */
export function checkRule(rule: unknown, field = "rule"): FaultRule {
  return checkFields(rule, ruleFields, field) as FaultRule;
}

/** @throws FaultRuleError */
export function checkFault(fault: unknown, field = "fault"): Fault {
  if (!isObject(fault)) throw new FaultRuleError(field, "must be an object with the field type");
  const { type, ...options } = fault;
  if (typeof type !== "string" || !Object.hasOwn(faultFields, type))
    throw new FaultRuleError(`${field}.type`, `must be one of ${Object.keys(faultFields).join(", ")}`);
  const known = type as Fault["type"];
  const checked = checkFields(options, faultFields[known], field);
  for (const name of required[known] ?? [])
    if (checked[name] === undefined) throw new FaultRuleError(`${field}.${name}`, "is required");
  if (known === "staleRead" && (checked.changes === undefined) === (checked.ms === undefined))
    throw new FaultRuleError(field, "needs either changes or ms");
  return { type: known, ...checked } as Fault;
}

function checkFields(value: unknown, fields: Readonly<Record<string, Check>>, field: string): Record<string, unknown> {
  if (!isObject(value)) throw new FaultRuleError(field, "must be an object");
  const checked: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (check === undefined) {
      const known = Object.keys(fields);
      const why = known.length === 0 ? "there are no fields here" : `the fields are ${known.join(", ")}`;
      throw new FaultRuleError(`${field}.${name.slice(0, 50)}`, `is not known: ${why}`);
    }
    if (one === undefined) continue;
    check(one, `${field}.${name}`);
    checked[name] = Array.isArray(one) ? [...one] : one;
  }
  return checked;
}

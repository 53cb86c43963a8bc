/**
 * Runs the rules of one schema node on one value. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/validation.go
 */
import { FieldErrors, omitted } from "../apimachinery/field-errors.ts";
import {
  type Activation,
  CelError,
  CelOptional,
  type CelValue,
  type JsonValue,
  jsonValue,
  optionalNone,
  type Program,
} from "../lib/cel/index.ts";
import type { ValidationRule } from "../lib/cel/schema-types/index.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { CompiledRule } from "./compile-rule.ts";
import type { RuleNode } from "./compile-rules.ts";
import type { Correlation } from "./correlation.ts";
import { messageBytesMax, perCallLimit } from "./limits.ts";
import type { TimeLimit } from "./time-limit.ts";

/** The state of the validation of one object. */
export interface RuleRun {
  readonly errors: FieldErrors;
  readonly warn: (message: string) => void;
  readonly optionalOldSelf: boolean;
  readonly limit: TimeLimit;
  /** Remaining units; if negative, no further rule runs. */
  budget: number;
}

/** A value in the object and its schema node. */
export interface Place {
  readonly node: RuleNode;
  /** Empty at the root. */
  readonly path: string;
  readonly value: unknown;
  /** The old value, or undefined. */
  readonly old: unknown;
  readonly unchanged: Unchanged;
}

/** Correlations with the old object, for ratcheting. */
export interface Unchanged {
  /** Undefined if the value cannot be correlated with an old value. */
  readonly current: Correlation | undefined;
  /** The nearest ancestor that can be correlated. */
  readonly parent: Correlation | undefined;
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";
const messageOutOfBudget =
  "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
const pastLimit = "operation cancelled: actual cost limit exceeded";

/** Runs all rules of a node and reports violations. @param place must have a value */
export function runRules(place: Place, run: RuleRun): void {
  const { rules, usesOldSelf, error } = place.node.rules();
  if (error !== undefined) return invalid(place, run, `rule compiler initialization error: ${error}`);
  if (rules.length === 0) return;
  if (run.budget <= 0) return end(place, run, outOfBudget);
  const variables = variablesOf(place, usesOldSelf);
  for (const rule of rules) {
    runRule(rule, place, variables, run);
    if (run.budget < 0) return;
  }
}

function runRule(compiled: CompiledRule, place: Place, variables: Variables, run: RuleRun): void {
  const { rule, expression, usesOldSelf } = compiled;
  if (expression === undefined) return;
  if (expression.program === undefined) return invalid(place, run, `rule compile error: ${expression.error}`);
  const isOptional = rule.optionalOldSelf === true;
  if (usesOldSelf && place.old === undefined && !(isOptional && run.optionalOldSelf)) return;
  const { value, cost, error } = evaluate(expression.program, isOptional ? variables.optional : variables.plain, run);
  if (cost > run.budget) return end(place, run, outOfBudget);
  run.budget -= cost;
  if (error !== undefined) reportFailure(error, rule, place, run);
  else if (value !== true) reportViolation(compiled, place, variables, run);
}

function reportFailure(error: string, rule: ValidationRule, place: Place, run: RuleRun): void {
  const name = ruleName(rule);
  if (error.startsWith(pastLimit)) {
    return end(
      place,
      run,
      `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`,
    );
  }
  const isOverload = error.startsWith("no such overload");
  const unsupported = `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
  invalid(place, run, isOverload ? unsupported : `${error} evaluating rule: ${name}`);
}

function reportViolation(compiled: CompiledRule, place: Place, variables: Variables, run: RuleRun): void {
  const { rule, usesOldSelf } = compiled;
  const { node, unchanged } = place;
  const path = fieldOf(compiled.fieldPath === "" ? place.path : childPath(place.path, compiled.fieldPath));
  const isKept = !usesOldSelf && (unchanged.current ?? unchanged.parent)?.isUnchanged === true;
  const errors = isKept ? new FieldErrors() : run.errors;
  const { text, fatal } = messageOf(compiled, variables, run);
  if (fatal !== undefined) {
    errors.invalid(path, node.type, fatal);
    run.budget = -1;
  } else {
    const value = node.type === "object" || node.type === "array" ? omitted : place.value;
    addForReason(errors, rule.reason, path, value, text ?? defaultMessage(rule));
  }
  if (isKept) for (const { field, message } of errors.causes) run.warn(`${field}: ${message}`);
}

/**
 * Evaluates `messageExpression`.
 *
 * @returns an empty object if the result cannot be used as a message
 */
function messageOf(
  { rule, messageExpression }: CompiledRule,
  variables: Variables,
  run: RuleRun,
): { readonly text?: string; readonly fatal?: string } {
  if (messageExpression?.program === undefined) return {};
  const { value, cost, error } = evaluate(messageExpression.program, variables.plain, run);
  if (cost > run.budget) return { fatal: messageOutOfBudget };
  if (error?.startsWith(pastLimit) === true) {
    const expression = quoteGo(rule.messageExpression ?? "");
    return {
      fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${expression}`,
    };
  }
  run.budget -= cost;
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" || text.includes("\n") || Buffer.byteLength(text) > messageBytesMax ? {} : { text };
}

interface Outcome {
  readonly value: CelValue | undefined;
  readonly cost: number;
  readonly error?: string;
}

function evaluate(program: Program, activation: Activation, { limit }: RuleRun): Outcome {
  limit.restart();
  try {
    return program.evaluate(activation, { costLimit: perCallLimit, isInterrupted: limit.isExceeded });
  } catch (error) {
    if (error instanceof CelError) return { value: undefined, cost: error.cost, error: error.message };
    throw error;
  }
}

interface Variables {
  readonly plain: Activation;
  /**
   * With `oldSelf` as an optional, whose value is JSON without a schema: cel-go converts the value of
   * an optional when an expression names it. As in kube-apiserver, message expressions always use the
   * plain one.
   */
  readonly optional: Activation;
}

function variablesOf({ node, value, old }: Place, usesOldSelf: boolean): Variables {
  const self = node.wrap(value);
  if (!usesOldSelf) {
    const plain = activation(self, undefined);
    return { plain, optional: plain };
  }
  const oldSelf = old === undefined ? undefined : node.wrap(old);
  return {
    plain: activation(self, oldSelf),
    optional: activation(self, old === undefined ? optionalNone : new CelOptional(jsonValue(old as JsonValue))),
  };
}

function activation(self: CelValue, oldSelf: CelValue | undefined): Activation {
  return { get: (name) => (name === "self" ? self : name === "oldSelf" ? oldSelf : undefined) };
}

function invalid({ path, node }: Place, { errors }: RuleRun, detail: string): void {
  errors.invalid(fieldOf(path), node.type, detail);
}

/** Reports an error after which no further rule runs. */
function end(place: Place, run: RuleRun, detail: string): void {
  invalid(place, run, detail);
  run.budget = -1;
}

/** kube-apiserver prints the path of the root as `<nil>`. */
function fieldOf(path: string): string {
  return path === "" ? "<nil>" : path;
}

/** Appends a field name to a path. */
export function childPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The name of a rule in error messages. */
function ruleName({ rule, message = "" }: ValidationRule): string {
  return (message === "" ? rule : message).trim();
}

function defaultMessage(rule: ValidationRule): string {
  return rule.message === undefined || rule.message === "" ? `failed rule: ${ruleName(rule)}` : rule.message.trim();
}

function addForReason(
  errors: FieldErrors,
  reason: string | undefined,
  path: string,
  value: unknown,
  detail: string,
): void {
  if (reason === "FieldValueForbidden") errors.forbidden(path, detail);
  else if (reason === "FieldValueRequired") errors.required(path, detail);
  else if (reason === "FieldValueDuplicate") errors.duplicate(path, value);
  else errors.invalid(path, value, detail);
}

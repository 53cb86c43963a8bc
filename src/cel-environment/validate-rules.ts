/**
 * Runs the rules of a schema over an object. Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel/validation.go
 */
import { FieldErrors, omitted } from "../api/field-errors.ts";
import { type Activation, CelError, CelOptional, type CelValue, optionalNone, type Program } from "../lib/cel/index.ts";
import type { ValidationRule } from "../lib/cel/schema-types/index.ts";
import type { CompiledRule } from "./compile-rule.ts";
import type { RuleNode } from "./compile-rules.ts";
import { Correlation, isJsonObject, itemsByKey, memberOf } from "./correlation.ts";
import { messageBytesMax, perCallLimit, runtimeBudget } from "./limits.ts";

export interface ValidateOptions {
  /** As it is after the write. */
  readonly object: unknown;
  /** As it is stored; left out when the object is new. Transition rules run only where there is an old value. */
  readonly oldObject?: unknown;
  /** Where the object stands; at the root of a resource when left out. */
  readonly path?: string;
  readonly errors: FieldErrors;
  /** Gets what would be errors were it not for values that have not changed, such as `spec: Invalid value: …`; nobody does when left out. */
  readonly warn?: (message: string) => void;
  /** Whether what has not changed may stay invalid (ratcheting): true when the gate `CRDValidationRatcheting` is on. */
  readonly keepUnchanged: boolean;
  /** Whether rules with `optionalOldSelf` run where there is no old value: the same gate. */
  readonly optionalOldSelf: boolean;
  /** Units for all rules; 10,000,000 when left out. */
  readonly budget?: number;
  /** Asked now and then: true ends the evaluation of the rule at hand with an error. */
  readonly isInterrupted?: () => boolean;
}

/**
 * All rules of the object, root first. When the budget is spent an error says so, and no further rule runs.
 * @param root what `compileRules` made; call it only for objects that the schema itself accepts: upstream skips rules when types, required
 *   fields, lengths or enumerations are wrong, and says `some validation rules were not checked because the object was invalid; correct the
 *   existing errors to complete validation`
 * @returns units that are left, -1 when they did not suffice
 */
export function validateRules(root: RuleNode, options: ValidateOptions): number {
  const { object, oldObject } = options;
  const run = new Validation(options);
  const current = options.keepUnchanged && oldObject !== undefined ? new Correlation(root.schema, object, oldObject) : undefined;
  run.node(root, options.path ?? "", object, oldObject, { current, parent: undefined });
  return run.budget;
}

/** What ratcheting goes by. */
interface Unchanged {
  /** Undefined where old and new cannot be told to be the same thing. */
  readonly current: Correlation | undefined;
  /** The nearest place above where they can. */
  readonly parent: Correlation | undefined;
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";
const pastLimit = "operation cancelled: actual cost limit exceeded";

class Validation {
  budget: number;
  readonly #options: ValidateOptions;

  constructor(options: ValidateOptions) {
    this.#options = options;
    this.budget = options.budget ?? runtimeBudget;
  }

  get #isSpent(): boolean {
    return this.budget < 0;
  }

  /** @param path empty at the root */
  node(node: RuleNode, path: string, value: unknown, old: unknown, unchanged: Unchanged): void {
    if (value === null || value === undefined) return; // Rules about null stand above it.
    this.#rules(node, path, value, old ?? undefined, unchanged);
    for (const nested of node.allOf) {
      if (this.#isSpent) return;
      this.node(nested, path, value, old, { current: undefined, parent: unchanged.parent });
    }
    if (this.#isSpent) return;
    if (Array.isArray(value)) this.#items(node, path, value, Array.isArray(old) ? old : [], unchanged);
    else if (isJsonObject(value)) this.#members(node, path, value, isJsonObject(old) ? old : {}, unchanged);
  }

  #items(node: RuleNode, path: string, value: readonly unknown[], old: readonly unknown[], unchanged: Unchanged): void {
    if (node.items === undefined) return;
    const find = itemsByKey(node.schema, old);
    for (const [index, item] of value.entries()) {
      this.node(
        node.items,
        `${path}[${index}]`,
        item,
        find?.(item),
        within(unchanged, (current) => current.item(index)),
      );
      if (this.#isSpent) return;
    }
  }

  #members(
    node: RuleNode,
    path: string,
    value: { readonly [key: string]: unknown },
    old: { readonly [key: string]: unknown },
    unchanged: Unchanged,
  ): void {
    const { values, properties } = node;
    if (values === undefined && properties.size === 0) return;
    const isCorrelatable = [undefined, "granular", "atomic"].includes(node.schema["x-kubernetes-map-type"]);
    for (const key of Object.keys(value)) {
      const property = properties.get(key);
      const oldMember = isCorrelatable ? memberOf(old, key) : undefined;
      const below = memberUnchanged(unchanged, key);
      if (values !== undefined) this.node(values, `${path}[${key}]`, value[key], oldMember, below);
      if (property !== undefined && !this.#isSpent) this.node(property, childPath(path, key), value[key], oldMember, below);
      if (this.#isSpent) return;
    }
  }

  #rules(node: RuleNode, path: string, value: unknown, old: unknown, unchanged: Unchanged): void {
    const { rules, usesOldSelf, error } = node.rules();
    const where = fieldOf(path);
    if (error !== undefined) return this.#options.errors.invalid(where, node.type, `rule compiler initialization error: ${error}`);
    if (rules.length === 0) return;
    if (this.budget <= 0) return this.#end(where, node.type, outOfBudget);
    const variables = variablesOf(node, value, old, usesOldSelf);
    for (const rule of rules) {
      this.#rule(rule, node, path, value, old, variables, unchanged);
      if (this.#isSpent) return;
    }
  }

  #rule(compiled: CompiledRule, node: RuleNode, path: string, value: unknown, old: unknown, variables: Variables, unchanged: Unchanged): void {
    const { rule, expression, usesOldSelf } = compiled;
    const where = fieldOf(path);
    const invalid = (detail: string): void => this.#options.errors.invalid(where, node.type, detail);
    if (expression === undefined) return;
    if (expression.program === undefined) return invalid(`rule compile error: ${expression.error}`);
    const isOptional = rule.optionalOldSelf === true;
    if (usesOldSelf && old === undefined && !(isOptional && this.#options.optionalOldSelf)) return;
    const { value: holds, cost, error } = this.#evaluate(expression.program, isOptional ? variables.optional : variables.plain);
    if (cost > this.budget) return this.#end(where, node.type, outOfBudget);
    this.budget -= cost;
    const name = ruleName(rule);
    if (error === undefined) {
      if (holds !== true) this.#violation(compiled, node, path, value, variables, unchanged);
    } else if (error.startsWith("no such overload")) {
      invalid(`'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`);
    } else if (error.startsWith(pastLimit)) {
      this.#end(where, node.type, `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`);
    } else {
      invalid(`${error} evaluating rule: ${name}`);
    }
  }

  #violation(compiled: CompiledRule, node: RuleNode, path: string, value: unknown, variables: Variables, unchanged: Unchanged): void {
    const { rule, usesOldSelf } = compiled;
    const place = fieldOf(compiled.fieldPath === "" ? path : childPath(path, compiled.fieldPath));
    const isKept = !usesOldSelf && (unchanged.current ?? unchanged.parent)?.isUnchanged === true;
    const report = (add: (errors: FieldErrors) => void): void => {
      if (!isKept) return add(this.#options.errors);
      const kept = new FieldErrors();
      add(kept);
      for (const { field, message } of kept.causes) this.#options.warn?.(`${field}: ${message}`);
    };
    const message = this.#message(compiled, variables);
    const { fatal } = message;
    if (fatal !== undefined) {
      report((errors) => errors.invalid(place, node.type, fatal));
      this.budget = -1;
      return;
    }
    const detail = message.text ?? (rule.message === undefined || rule.message === "" ? `failed rule: ${ruleName(rule)}` : rule.message.trim());
    const shown = node.type === "object" || node.type === "array" ? omitted : value;
    report((errors) => addForReason(errors, rule.reason, place, shown, detail));
  }

  /** What `messageExpression` makes; neither, when it makes nothing that can be shown. */
  #message({ rule, messageExpression }: CompiledRule, variables: Variables): { readonly text?: string; readonly fatal?: string } {
    if (messageExpression?.program === undefined) return {};
    const { value, cost, error } = this.#evaluate(messageExpression.program, variables.plain);
    if (cost > this.budget) {
      return { fatal: "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run" };
    }
    if (error?.startsWith(pastLimit) === true) {
      const written = JSON.stringify(rule.messageExpression);
      return { fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${written}` };
    }
    this.budget -= cost;
    const text = typeof value === "string" ? value.trim() : "";
    return text === "" || text.includes("\n") || Buffer.byteLength(text) > messageBytesMax ? {} : { text };
  }

  #evaluate(program: Program, activation: Activation): Outcome {
    try {
      return program.evaluate(activation, { costLimit: perCallLimit, isInterrupted: this.#options.isInterrupted });
    } catch (error) {
      if (error instanceof CelError) return { value: undefined, cost: error.cost, error: error.message };
      throw error;
    }
  }

  #end(where: string, type: string, detail: string): void {
    this.#options.errors.invalid(where, type, detail);
    this.budget = -1;
  }
}

interface Outcome {
  readonly value: CelValue | undefined;
  readonly cost: number;
  readonly error?: string;
}

interface Variables {
  readonly plain: Activation;
  /** With `oldSelf` as an optional. Message expressions see the plain one even then, as upstream has it. */
  readonly optional: Activation;
}

function variablesOf(node: RuleNode, value: unknown, old: unknown, usesOldSelf: boolean): Variables {
  const self = node.wrap(value);
  if (!usesOldSelf) {
    const plain = activation(self, undefined);
    return { plain, optional: plain };
  }
  const oldSelf = old === undefined ? undefined : node.wrap(old);
  return { plain: activation(self, oldSelf), optional: activation(self, oldSelf === undefined ? optionalNone : new CelOptional(oldSelf)) };
}

function activation(self: CelValue, oldSelf: CelValue | undefined): Activation {
  return { get: (name) => (name === "self" ? self : name === "oldSelf" ? oldSelf : undefined) };
}

/** The root has no name; upstream prints its absence. */
function fieldOf(path: string): string {
  return path === "" ? "<nil>" : path;
}

function childPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function within(unchanged: Unchanged, find: (current: Correlation) => Correlation | undefined): Unchanged {
  return unchanged.current === undefined ? unchanged : { current: find(unchanged.current), parent: unchanged.current };
}

/** The version and kind of a resource differ out of sight: old and new are both converted to the request's. */
function memberUnchanged(unchanged: Unchanged, key: string): Unchanged {
  const isRoot = unchanged.current !== undefined && unchanged.parent === undefined;
  if (isRoot && (key === "apiVersion" || key === "kind")) return { current: undefined, parent: undefined };
  return within(unchanged, (current) => current.member(key));
}

/** What messages call a rule. */
function ruleName(rule: ValidationRule): string {
  return (rule.message === undefined || rule.message === "" ? rule.rule : rule.message).trim();
}

function addForReason(errors: FieldErrors, reason: string | undefined, path: string, value: unknown, detail: string): void {
  if (reason === "FieldValueForbidden") errors.forbidden(path, detail);
  else if (reason === "FieldValueRequired") errors.required(path, detail);
  else if (reason === "FieldValueDuplicate") errors.duplicate(path, value);
  else errors.invalid(path, value, detail);
}

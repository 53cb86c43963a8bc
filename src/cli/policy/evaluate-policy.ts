/** Evaluates the expressions of a policy one by one, and keeps what each of them returned. */

import { applyConfiguration, applyPatch, MutationError } from "../../admission/policies/apply-mutation.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import type { Compiled } from "../../cel-environment/compile-expression.ts";
import { storedExpressions } from "../../cel-environment/environments.ts";
import { matchConditionsBudget, runtimeBudget } from "../../cel-environment/limits.ts";
import { jsonPatchName } from "../../cel-environment/mutation-types.ts";
import { OutOfBudget, type PolicyBindings, type PolicyEvaluator } from "../../cel-environment/policy-evaluator.ts";
import { PolicyCompiler } from "../../cel-environment/policy-expressions.ts";
import { namespaceValue, requestValue } from "../../cel-environment/request-value.ts";
import {
  boolType,
  CelAuthorizer,
  type CelType,
  type CelValue,
  type JsonValue,
  listType,
  noResource,
  nullType,
  objectType,
  resourceCheckType,
  stringType,
} from "../../lib/cel/index.ts";
import { isObject } from "../../lib/json/values.ts";
import type { PlainObject } from "../cel/documents.ts";
import type { TestedRequest } from "./tested-request.ts";

/** The result of one expression. */
export interface Evaluated {
  /** Such as `matchConditions[0] (name)`. */
  readonly field: string;
  readonly value?: CelValue | undefined;
  readonly error?: string | undefined;
  /** Units. */
  readonly cost: number;
}

/** The parts of a policy that the command evaluates. */
export interface TestedPolicy {
  readonly kind: string;
  readonly name: string;
  readonly spec: PlainObject;
}

interface Options {
  readonly request: TestedRequest;
  /** Null if the binding has no parameters. */
  readonly params: PlainObject | null;
  /** The answer to every authorization check. */
  readonly isAuthorized: boolean;
}

/** Match conditions share a budget, validations and messages another one. */
export function evaluatePolicy({ kind, spec }: TestedPolicy, options: Options): PolicyEvaluation {
  const compiler = new PolicyCompiler(storedExpressions(), {
    hasParams: spec.paramKind !== undefined,
    hasAuthorizer: true,
    hasPatchTypes: false,
  });
  const variables = items(spec, "variables").map(({ name, expression }) => ({
    name: String(name),
    expression: String(expression),
  }));
  for (const variable of variables) compiler.addVariable(variable);
  const bindings = bindingsOf(options);
  const conditions = run(compiler.evaluator({ ...bindings, namespaceObject: null }, matchConditionsBudget), [
    ...items(spec, "matchConditions").map(({ name, expression }, index) => ({
      field: `matchConditions[${index}] (${name})`,
      compiled: compiler.compile(String(expression), [boolType]),
    })),
  ]);
  if (conditions.some(({ value, error }) => value !== true || error !== undefined))
    return { conditions, expressions: [], variables: [] };
  const evaluated =
    kind === "MutatingAdmissionPolicy"
      ? mutations(compiler.sharing({ hasPatchTypes: true }), { spec, bindings, request: options.request })
      : { expressions: validations(compiler, spec, bindings) };
  return {
    conditions,
    ...evaluated,
    variables: run(
      compiler.evaluator(bindings, runtimeBudget),
      variables.map(({ name }, index) => ({
        field: `variables[${index}] (${name})`,
        compiled: compiler.compile(`variables.${name}`),
      })),
    ),
  };
}

/** The results of a policy, in the order of the evaluation. */
export interface PolicyEvaluation {
  readonly conditions: readonly Evaluated[];
  /** Empty if a condition is not true. */
  readonly expressions: readonly Evaluated[];
  readonly variables: readonly Evaluated[];
  /** The object after all mutations. */
  readonly mutated?: PlainObject | undefined;
}

interface Expression {
  readonly field: string;
  readonly compiled: Compiled;
}

function validations(compiler: PolicyCompiler, spec: PlainObject, bindings: PolicyBindings): Evaluated[] {
  const { authorizer: _unavailable, ...withoutAuthorizer } = bindings;
  const messages = compiler.sharing({ hasAuthorizer: false });
  const expression = (list: string, member: string, types: readonly CelType[], by = compiler): Expression[] =>
    items(spec, list).flatMap((item, index) => {
      const text = item[member];
      if (typeof text !== "string" || text === "") return [];
      return [{ field: `${list}[${index}].${member}`, compiled: by.compile(text, types) }];
    });
  const evaluator = compiler.evaluator(bindings, runtimeBudget);
  const checked = run(evaluator, expression("validations", "expression", [boolType]));
  const texts = run(
    compiler.evaluator(withoutAuthorizer, evaluator.budget),
    expression("validations", "messageExpression", [stringType], messages),
  );
  const annotations = run(
    compiler.evaluator(withoutAuthorizer, runtimeBudget),
    expression("auditAnnotations", "valueExpression", [stringType, nullType]),
  );
  return [...checked, ...texts, ...annotations];
}

const objectResult = [objectType("Object")];
const patchResult = [listType(objectType(jsonPatchName))];

interface MutationInput {
  readonly spec: PlainObject;
  readonly bindings: PolicyBindings;
  readonly request: TestedRequest;
}

/** Each mutation reads the object that the ones before it have changed. */
function mutations(
  compiler: PolicyCompiler,
  { spec, bindings, request }: MutationInput,
): Pick<PolicyEvaluation, "expressions" | "mutated"> {
  let { object } = request;
  const expressions = items(spec, "mutations").map((mutation, index): Evaluated => {
    const member = mutation.patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
    const part = mutation[member];
    const text = isObject(part) ? String(part.expression ?? "") : "";
    const compiled = compiler.compile(text, member === "jsonPatch" ? patchResult : objectResult);
    const evaluator = compiler.evaluator({ ...bindings, object: object as JsonValue }, runtimeBudget);
    const [result] = run(evaluator, [{ field: `mutations[${index}].${member}`, compiled }]) as [Evaluated];
    if (result.value === undefined || object === null) return result;
    const applied = applyMutation(result.value, { member, object, request });
    object = applied.object ?? object;
    return applied.error === undefined ? result : { ...result, error: applied.error };
  });
  return { expressions, mutated: object ?? undefined };
}

/** After the budget is exceeded, no further expression is evaluated. */
function run(evaluator: PolicyEvaluator, expressions: readonly Expression[]): Evaluated[] {
  const results: Evaluated[] = [];
  for (const { field, compiled } of expressions) {
    const before = evaluator.budget;
    try {
      const { value, error } = evaluator.evaluate(compiled);
      results.push({ field, value, error, cost: before - evaluator.budget });
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return [...results, { field, error: error.message, cost: before - evaluator.budget }];
    }
  }
  return results;
}

function bindingsOf({ request, params, isAuthorized }: Options): PolicyBindings {
  const { operation, group, version, kind, resource, namespace, name, user, object, oldObject } = request;
  const decide = (): { allowed: boolean; reason: string } => ({ allowed: isAuthorized, reason: "" });
  const own = { ...noResource, group, resource, namespace, name };
  const names = { kind: { group, version, kind }, resource: { group, version, resource } };
  return {
    object: object as JsonValue,
    oldObject: oldObject as JsonValue,
    params: params as JsonValue,
    namespaceObject: request.namespaceObject ? namespaceValue(request.namespaceObject as KubeObject) : null,
    request: requestValue({
      ...{ operation, ...names, requestKind: names.kind, requestResource: names.resource },
      ...{ subresource: "", namespace, name, user, dryRun: false },
      options: { kind: `${operation[0]}${operation.slice(1).toLowerCase()}Options`, apiVersion: "meta.k8s.io/v1" },
    }),
    authorizer: {
      authorizer: new CelAuthorizer(decide),
      requestResource: new CelAuthorizer(decide, resourceCheckType, { resource: own }),
    },
  };
}

/** The objects in a list of the spec. */
export function items(spec: PlainObject, name: string): PlainObject[] {
  const list = spec[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

interface Mutation {
  readonly member: "jsonPatch" | "applyConfiguration";
  readonly object: PlainObject;
  readonly request: TestedRequest;
}

/** Applies a mutation as a server does, but without defaults. Only built-in kinds have a known schema. */
function applyMutation(
  value: CelValue,
  { member, object, request: { group, version, kind } }: Mutation,
): { readonly object?: PlainObject; readonly error?: string } {
  const definition = definitionOf(group, version, kind);
  if (definition === undefined) return { error: "is not applied, because the schema of the kind is unknown" };
  const apply = member === "jsonPatch" ? applyPatch : applyConfiguration;
  try {
    return { object: apply(value, object as unknown as KubeObject, builtinSchema(definition)) };
  } catch (error) {
    if (error instanceof MutationError || error instanceof ApiError) return { error: error.message };
    throw error;
  }
}

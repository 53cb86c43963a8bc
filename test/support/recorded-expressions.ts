/** Expressions of upstream's tests of admission, and the requests that they read. */
import assert from "node:assert/strict";
import { AuthorizationChecks } from "../../src/admission/expressions/authorization-checks.ts";
import { requestBindings } from "../../src/admission/expressions/request-bindings.ts";
import type { GroupVersionKind, KubeObject } from "../../src/apimachinery/object.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../../src/authorization/contract.ts";
import type { Compiled } from "../../src/cel-environment/compile-expression.ts";
import { newExpressions, storedExpressions } from "../../src/cel-environment/environments.ts";
import type { PolicyBindings } from "../../src/cel-environment/policy-evaluator.ts";
import { PolicyCompiler } from "../../src/cel-environment/policy-expressions.ts";
import {
  boolType,
  type CelType,
  type JsonValue,
  listType,
  nullType,
  objectType,
  stringType,
} from "../../src/lib/cel/index.ts";
import type { AdmissionAttributes } from "../../src/registry/admission-attributes.ts";
import type { RecordedRequest } from "./recorded-admission.ts";

/** An expression and how it was compiled. */
export interface RecordedExpression {
  readonly name?: string;
  readonly text: string;
  readonly returns: readonly string[];
  readonly params?: boolean;
  readonly authorizer?: boolean;
  readonly patch?: boolean;
  readonly stored?: boolean;
  /** An older version whose functions were available. */
  readonly version?: string;
  /** Whether the gate AuthorizeWithSelectors was off. */
  readonly noSelectors?: boolean;
  readonly error?: string;
}

/** What an evaluation reads. */
export interface RecordedInput {
  readonly variables?: readonly RecordedExpression[];
  readonly expressions: readonly RecordedExpression[];
  readonly request: RecordedRequest;
  readonly matchedAs: GroupVersionKind;
  readonly parameters?: KubeObject;
  readonly namespaceObject?: KubeObject;
  readonly checks?: readonly RecordedCheck[];
}

interface RecordedCheck {
  readonly attributes: {
    readonly Verb: string;
    readonly Namespace: string;
    readonly APIGroup: string;
    readonly APIVersion: string;
    readonly Resource: string;
    readonly Subresource: string;
    readonly Name: string;
    readonly ResourceRequest: boolean;
    readonly Path: string;
  };
  /** Go's constants: deny, allow, no opinion. */
  readonly decision: 0 | 1 | 2;
  readonly reason?: string;
  readonly error?: string;
}

/** The types that an expression may return; an unknown name allows any. */
const types: Readonly<Record<string, CelType>> = {
  bool: boolType,
  string: stringType,
  null_type: nullType,
  Object: objectType("Object"),
  "list(JSONPatch)": listType(objectType("JSONPatch")),
};

/** Compiles an expression, after the variables that it can use. */
export function compileRecorded(
  expression: RecordedExpression,
  variables: readonly RecordedExpression[] = [],
): { readonly compiler: PolicyCompiler; readonly compiled: Compiled } {
  const { text, returns, params = false, authorizer = false, patch = false, stored = false } = expression;
  const compiler = new PolicyCompiler(stored ? storedExpressions() : newExpressions(), {
    hasParams: params,
    hasAuthorizer: authorizer,
    hasPatchTypes: false,
  });
  for (const { name = "", text, error } of variables)
    assert.equal(compiler.addVariable({ name, expression: text }).error, error);
  const own = patch ? compiler.sharing({ hasPatchTypes: true }) : compiler;
  const allowed = returns.map((name) => types[name]).filter((type) => type !== undefined);
  return { compiler: own, compiled: own.compile(text, allowed) };
}

/** The values that an expression reads; checks of the authorizer get the recorded answers. */
export function recordedBindings(input: RecordedInput, attributes: AdmissionAttributes): PolicyBindings {
  const { request, matchedAs, parameters, namespaceObject, checks = [] } = input;
  return requestBindings({
    attributes,
    match: { resource: request.resource, kind: matchedAs },
    objects: {
      object: (request.object ?? null) as JsonValue,
      oldObject: (request.oldObject ?? null) as JsonValue,
    },
    params: parameters,
    namespace: namespaceObject && (() => namespaceObject),
    checks: new AuthorizationChecks(recordedAuthorizer(checks), attributes),
  });
}

const decisions: readonly Decision["decision"][] = ["deny", "allow", "noOpinion"];

function recordedAuthorizer(checks: readonly RecordedCheck[]): Authorizer {
  return (attributes) => {
    const check = checks.find((one) => JSON.stringify(partsOfRecorded(one)) === JSON.stringify(partsOf(attributes)));
    assert.ok(check, `upstream makes no such check: ${JSON.stringify(partsOf(attributes))}`);
    const { decision, reason = "", error } = check;
    return { decision: decisions[decision] as Decision["decision"], reason, ...(error !== undefined && { error }) };
  };
}

const partsOf = (attributes: AuthorizationAttributes): unknown[] => {
  const { verb, namespace, group, version, resource, subresource, name, isResourceRequest, path } = attributes;
  return [verb, namespace, group, version, resource, subresource, name, isResourceRequest, path];
};

const partsOfRecorded = ({ attributes }: RecordedCheck): unknown[] => {
  const { Verb, Namespace, APIGroup, APIVersion, Resource, Subresource, Name, ResourceRequest, Path } = attributes;
  return [Verb, Namespace, APIGroup, APIVersion, Resource, Subresource, Name, ResourceRequest, Path];
};

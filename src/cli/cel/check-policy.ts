/**
 * Checks the expressions of admission policies and the match conditions of webhooks. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/admissionregistration/validation/validation.go`.
 */
import { newExpressions } from "../../cel-environment/environments.ts";
import { jsonPatchName } from "../../cel-environment/mutation-types.ts";
import { PolicyCompiler } from "../../cel-environment/policy-expressions.ts";
import { boolType, type CelType, listType, nullType, objectType, stringType } from "../../lib/cel/index.ts";
import { isObject } from "../../lib/json/values.ts";
import type { Checked, Problem } from "./contract.ts";
import type { PlainObject } from "./documents.ts";

/**
 * A list in `spec`, the field of its items that holds an expression, and the allowed types of its
 * value.
 */
interface Row {
  readonly list: string;
  readonly member: readonly string[];
  readonly returns: readonly CelType[];
  /** Message expressions cannot use `authorizer`. */
  readonly hasAuthorizer: boolean;
}

const rows: readonly Row[] = [
  { list: "matchConditions", member: ["expression"], returns: [boolType], hasAuthorizer: true },
  { list: "validations", member: ["expression"], returns: [boolType], hasAuthorizer: true },
  { list: "validations", member: ["messageExpression"], returns: [stringType], hasAuthorizer: false },
  { list: "auditAnnotations", member: ["valueExpression"], returns: [stringType, nullType], hasAuthorizer: true },
  {
    list: "mutations",
    member: ["applyConfiguration", "expression"],
    returns: [objectType("Object")],
    hasAuthorizer: true,
  },
  {
    list: "mutations",
    member: ["jsonPatch", "expression"],
    returns: [listType(objectType(jsonPatchName))],
    hasAuthorizer: true,
  },
];

export function checkPolicy(policy: PlainObject): Checked {
  const spec = isObject(policy.spec) ? policy.spec : {};
  const hasParams = spec.paramKind !== undefined && spec.paramKind !== null;
  const hasPatchTypes = policy.kind === "MutatingAdmissionPolicy";
  const problems: Problem[] = [];
  let expressions = 0;
  const [withAuthorizer, withoutAuthorizer] = [true, false].map(
    (hasAuthorizer) => new PolicyCompiler(newExpressions(), { hasParams, hasAuthorizer, hasPatchTypes }),
  ) as [PolicyCompiler, PolicyCompiler];
  for (const [index, variable] of itemsOf(spec, "variables").entries()) {
    const named = { name: String(variable.name ?? ""), expression: String(variable.expression ?? "") };
    const { error } = withAuthorizer.addVariable(named);
    withoutAuthorizer.addVariable(named);
    expressions++;
    if (error !== undefined) problems.push({ field: `spec.variables[${index}].expression`, message: error });
  }
  for (const { list, member, returns, hasAuthorizer } of rows) {
    for (const [index, item] of itemsOf(spec, list).entries()) {
      const text = memberOf(item, member);
      if (text === undefined) continue;
      expressions++;
      const { error } = (hasAuthorizer ? withAuthorizer : withoutAuthorizer).compile(text, returns);
      if (error !== undefined) problems.push({ field: `spec.${list}[${index}].${member.join(".")}`, message: error });
    }
  }
  return { expressions, problems };
}

export function checkWebhooks(configuration: PlainObject): Checked {
  const compiler = new PolicyCompiler(newExpressions(), {
    hasParams: false,
    hasAuthorizer: true,
    hasPatchTypes: false,
  });
  const problems: Problem[] = [];
  let expressions = 0;
  for (const [index, webhook] of itemsOf(configuration, "webhooks").entries()) {
    for (const [at, condition] of itemsOf(webhook, "matchConditions").entries()) {
      expressions++;
      const { error } = compiler.compile(String(condition.expression ?? ""), [boolType]);
      if (error !== undefined)
        problems.push({ field: `webhooks[${index}].matchConditions[${at}].expression`, message: error });
    }
  }
  return { expressions, problems };
}

function itemsOf(object: PlainObject, name: string): PlainObject[] {
  const list = object[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function memberOf(item: PlainObject, path: readonly string[]): string | undefined {
  const value = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), item);
  return typeof value === "string" && value !== "" ? value : undefined;
}

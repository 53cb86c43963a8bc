/**
 * Validates admission policies, validating and mutating ones.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/admissionregistration/validation/validation.go
 */

import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { isReserved } from "../../lib/cel/schema-types/escape.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dns1035LabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { addExpressionProblem } from "../expression-problem.ts";
import { items, type Part } from "../fields.ts";
import type { ExpressionChecker, ExpressionUse, ExpressionVariables, PolicyExpressions } from "./expression-checker.ts";
import { expressionsOf, validateMatchConditions } from "./match-conditions.ts";
import { checkMutable, validateMatchResources } from "./resource-rules.ts";
import { failurePolicies, reinvocationPolicies } from "./webhook-rules.ts";

const annotationsMax = 20;
const annotationBytesMax = 5 * 1024;
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const patchTypes = ["ApplyConfiguration", "JSONPatch"];

/** One policy during its validation. */
interface Policy {
  readonly spec: Part;
  readonly old: Part | undefined;
  readonly expressions: PolicyExpressions;
  readonly errors: FieldErrors;
}

export function validateValidatingPolicy(
  next: KubeObject,
  old: KubeObject | undefined,
  checker: ExpressionChecker,
  errors: FieldErrors,
): void {
  const { spec = {}, metadata } = next;
  const expressions = checker.open(items(spec.variables).length > 0);
  const policy: Policy = { spec, old: old?.spec, expressions, errors };
  validateScope(policy, checker);
  validateVariables(policy);
  const [validations, annotations] = [items(spec.validations), items(spec.auditAnnotations)];
  if (validations.length === 0 && annotations.length === 0) {
    for (const field of ["validations", "auditAnnotations"]) {
      errors.required(`spec.${field}`, "validations or auditAnnotations must contain at least one item");
    }
    return;
  }
  for (const [index, validation] of validations.entries())
    validateValidation(policy, validation, `spec.validations[${index}]`);
  validateAnnotations(policy, metadata.name ?? "", annotations);
}

export function validateMutatingPolicy(
  next: KubeObject,
  old: KubeObject | undefined,
  checker: ExpressionChecker,
  errors: FieldErrors,
): void {
  const { spec = {} } = next;
  const policy: Policy = { spec, old: old?.spec, expressions: checker.open(true), errors };
  validateScope(policy, checker, () => checkMutable(spec.matchConstraints, "spec.matchConstraints", errors));
  validateVariables(policy);
  const mutations = items(spec.mutations);
  if (mutations.length === 0) errors.required("spec.mutations", "mutations must contain at least one item");
  for (const [index, mutation] of mutations.entries()) validateMutation(policy, mutation, `spec.mutations[${index}]`);
  const { reinvocationPolicy = "" } = spec;
  if (reinvocationPolicy === "") errors.required("spec.reinvocationPolicy");
  else if (!reinvocationPolicies.includes(reinvocationPolicy)) {
    errors.notSupported("spec.reinvocationPolicy", reinvocationPolicy, reinvocationPolicies);
  }
}

/**
 * Validates which requests the policy selects; `checkMatch` adds checks of its match constraints.
 */
function validateScope({ spec, old, errors }: Policy, checker: ExpressionChecker, checkMatch = (): void => {}): void {
  const { failurePolicy, paramKind, matchConstraints, matchConditions } = spec;
  if (!failurePolicies.includes(failurePolicy))
    errors.notSupported("spec.failurePolicy", failurePolicy, failurePolicies);
  if (paramKind) validateParamKind(paramKind, "spec.paramKind", errors);
  if (!matchConstraints) errors.required("spec.matchConstraints");
  else {
    validateMatchResources(matchConstraints, "spec.matchConstraints", errors);
    if (items(matchConstraints.resourceRules).length === 0) errors.required("spec.matchConstraints.resourceRules");
    checkMatch();
  }
  const keepsParams =
    old !== undefined && Boolean(paramKind) === Boolean(old.paramKind) && deepEqual(paramKind, old.paramKind);
  if (keepsParams && deepEqual(matchConditions, old.matchConditions)) return;
  const context = { checker, hasParams: Boolean(paramKind), stored: expressionsOf(old?.matchConditions) };
  validateMatchConditions(items(matchConditions), context, "spec.matchConditions", errors);
}

function validateParamKind({ apiVersion = "", kind = "" }: Part, path: string, errors: FieldErrors): void {
  if (apiVersion === "") errors.required(`${path}.apiVersion`);
  else validateGroupVersion(apiVersion, `${path}.apiVersion`, errors);
  const problems = dns1035LabelProblems(kind.toLowerCase());
  if (kind === "") errors.required(`${path}.kind`);
  else if (problems.length > 0)
    errors.invalid(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${problems.join(",")}`);
}

function validateGroupVersion(text: string, path: string, errors: FieldErrors): void {
  const parts = text.split("/");
  if (parts.length > 2) return errors.invalid(path, text, `unexpected GroupVersion string: ${text}`);
  const version = parts.pop() as string;
  const group = parts[0] ?? "";
  const groupProblems = group === "" ? [] : dnsSubdomainProblems(group);
  if (groupProblems.length > 0) errors.invalid(path, group, groupProblems.join(","));
  const problems = dns1035LabelProblems(version);
  if (version === "") errors.invalid(path, text, "version must be specified");
  else if (problems.length > 0) errors.invalid(path, version, problems.join(","));
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

function validateVariables({ spec, old, expressions, errors }: Policy): void {
  const stored = expressionsOf(old?.validations);
  for (const [index, { name = "", expression = "" }] of items(spec.variables).entries()) {
    const path = `spec.variables[${index}]`;
    if (name.trim() === "") errors.required(`${path}.name`, "name is not specified");
    else if (!identifier.test(name) || isReserved(name))
      errors.invalid(`${path}.name`, name, "must be a valid CEL identifier");
    if (expression.trim() === "") errors.required(`${path}.expression`, "expression is not specified");
    else {
      const request = { text: expression, variables: variablesOf(spec), isStored: stored.has(expression) };
      const problem = expressions.addVariable(name, request);
      if (problem !== undefined) addExpressionProblem(errors, `${path}.expression`, expression, problem);
    }
  }
}

const variablesOf = ({ paramKind }: Part): ExpressionVariables => ({
  hasParams: Boolean(paramKind),
  hasAuthorizer: true,
  hasPatchTypes: false,
});

interface ExpressionCheck {
  readonly text: string;
  readonly use: ExpressionUse;
  readonly isStored: boolean;
  readonly variables?: Partial<ExpressionVariables>;
  /** The value that the message shows, if it differs from `text`. */
  readonly shown?: string;
}

function checkExpression(
  { spec, expressions, errors }: Policy,
  { text, use, isStored, variables, shown = text }: ExpressionCheck,
  path: string,
): void {
  const problem = expressions.check({ text, use, isStored, variables: { ...variablesOf(spec), ...variables } });
  if (problem !== undefined) addExpressionProblem(errors, path, shown, problem);
}

function validateValidation(
  policy: Policy,
  { expression = "", message = "", messageExpression = "", reason }: Part,
  path: string,
): void {
  const { errors, old } = policy;
  if (expression.trim() === "") errors.required(`${path}.expression`, "expression is not specified");
  else
    checkExpression(
      policy,
      { text: expression, use: "condition", isStored: expressionsOf(old?.validations).has(expression) },
      `${path}.expression`,
    );
  if (messageExpression !== "") validateMessageExpression(policy, messageExpression, `${path}.messageExpression`);
  if (message !== "" && message.trim() === "")
    errors.invalid(`${path}.message`, message, "must be non-empty if specified");
  else if (/[\n\r]/.test(message.trim())) errors.invalid(`${path}.message`, message, "must not contain line breaks");
  if (reason !== undefined && !reasons.includes(reason)) errors.notSupported(`${path}.reason`, reason, reasons);
}

function validateMessageExpression(policy: Policy, text: string, path: string): void {
  if (text.trim() === "") return policy.errors.invalid(path, text, "must be non-empty if specified");
  const isStored = expressionsOf(policy.old?.validations, "messageExpression").has(text);
  checkExpression(policy, { text, use: "message", isStored, variables: { hasAuthorizer: false } }, path);
}

function validateAnnotations(policy: Policy, name: string, annotations: readonly Part[]): void {
  const { errors, old } = policy;
  const path = "spec.auditAnnotations";
  if (annotations.length > annotationsMax) {
    const shown = annotations.map(({ key = "", valueExpression = "" }) => ({
      Key: key,
      ValueExpression: valueExpression,
    }));
    errors.invalid(path, shown, `must not have more than ${annotationsMax} auditAnnotations`);
  }
  const stored = expressionsOf(old?.auditAnnotations, "valueExpression");
  const keys = new Set<string>();
  for (const [index, { key = "", valueExpression = "" }] of annotations.entries()) {
    const place = `${path}[${index}]`;
    if (name === "") errors.invalid(`${place}.key`, key, "requires metadata.name be non-empty");
    else addInvalid(errors, `${place}.key`, `${name}/${key}`, qualifiedNameProblems(`${name}/${key}`));
    const text = valueExpression.trim();
    if (text === "") errors.required(`${place}.valueExpression`, "valueExpression is not specified");
    else if (Buffer.byteLength(text) > annotationBytesMax) {
      errors.required(`${place}.valueExpression`, `must not exceed ${annotationBytesMax} bytes in length`);
    } else {
      const check: ExpressionCheck = {
        text,
        use: "annotation",
        isStored: stored.has(valueExpression),
        shown: valueExpression,
      };
      checkExpression(policy, check, `${place}.valueExpression`);
    }
    if (keys.has(key)) errors.duplicate(`${place}.key`, key);
    keys.add(key);
  }
}

function validateMutation(policy: Policy, { patchType = "", jsonPatch, applyConfiguration }: Part, path: string): void {
  const { errors } = policy;
  if (patchType === "") return errors.required(`${path}.patchType`);
  if (!patchTypes.includes(patchType)) return errors.notSupported(`${path}.patchType`, patchType, patchTypes);
  const isPatch = patchType === "JSONPatch";
  const [required, other] = isPatch ? ["jsonPatch", "applyConfiguration"] : ["applyConfiguration", "jsonPatch"];
  const [value, excess] = isPatch ? [jsonPatch, applyConfiguration] : [applyConfiguration, jsonPatch];
  if (!value) errors.required(`${path}.${required}`, `must be specified when patchType is ${patchType}`);
  else validatePatch(policy, value.expression ?? "", isPatch ? "patch" : "object", `${path}.${required}.expression`);
  if (excess) errors.invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`);
}

/** As upstream, compares with the stored apply configurations only, also for JSON patches. */
function validatePatch(policy: Policy, expression: string, use: "patch" | "object", path: string): void {
  const text = expression.trim();
  if (text === "") return policy.errors.required(path);
  const isStored = items(policy.old?.mutations).some(
    ({ applyConfiguration }) => applyConfiguration && (applyConfiguration.expression ?? "") === expression,
  );
  checkExpression(policy, { text, use, isStored, variables: { hasPatchTypes: true } }, path);
}

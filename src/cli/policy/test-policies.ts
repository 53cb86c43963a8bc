/** `coxswain policy test`: evaluates policies and bindings from files for one request. */
import { isObject } from "../../lib/json/values.ts";
import { InputError, type PlainObject, readDocuments } from "../cel/documents.ts";
import { evaluatePolicy, items, type PolicyEvaluation, type TestedPolicy } from "./evaluate-policy.ts";
import { nameOf, type RequestOptions, readObjects, type TestedRequest, testedRequests } from "./tested-request.ts";
import { whyUnmatched } from "./why-unmatched.ts";

/** The flags of the command. */
export interface TestOptions extends RequestOptions {
  readonly binding?: readonly string[];
  readonly params?: string;
  readonly authorized?: true;
}

/** The result of a policy with one binding, or with none if no binding was given for it. */
export interface TestResult {
  readonly policy: TestedPolicy;
  readonly binding: string | undefined;
  readonly request: TestedRequest;
  /** The name of the parameters, if there are several to choose from. */
  readonly params?: string;
  /** Why the policy or the binding does not match, or has no parameters. */
  readonly unmatched?: string | undefined;
  readonly evaluation?: PolicyEvaluation;
  /** The verdict, such as `denied: message`. */
  readonly verdict: Verdict;
}

/** `failed`: an expression has an error, and the failure policy is `Fail`. */
interface Verdict {
  readonly outcome: "unmatched" | "allowed" | "denied" | "failed";
  readonly messages: readonly string[];
}

/** @throws InputError */
export function testPolicies(files: readonly string[], options: TestOptions): TestResult[] {
  const requests = testedRequests(options);
  const policies = files.flatMap((file) => readKinds(file, policyKinds));
  if (policies.length === 0) throw new InputError(`${files.join(", ")}: no policies`);
  const bindings = (options.binding ?? []).flatMap((file) => readKinds(file, bindingKinds));
  const params = options.params === undefined ? [] : readObjects(options.params);
  const isAuthorized = options.authorized === true;
  return requests.flatMap((request) =>
    policies.flatMap((policy) => {
      const own = bindings.filter(
        ({ kind, spec }) => kind === `${policy.kind}Binding` && spec.policyName === policy.name,
      );
      const tested = own.length === 0 && bindings.length === 0 ? [undefined] : own;
      if (tested.length === 0) return [unmatched(policy, undefined, { request, why: "no binding names the policy" })];
      return tested.flatMap((binding) => testPolicy(policy, binding, { request, params, isAuthorized }));
    }),
  );
}

/** A server evaluates a policy once for each object of parameters. Of a single one, the kind and the name need not be those of the policy. */
function paramsOf(
  { spec }: TestedPolicy,
  binding: TestedPolicy | undefined,
  all: readonly PlainObject[],
): (PlainObject | null)[] {
  if (all.length <= 1) return [all[0] ?? null];
  const kind = isObject(spec.paramKind) ? spec.paramKind : {};
  const { name, namespace } = isObject(binding?.spec.paramRef) ? binding.spec.paramRef : {};
  const found = all.filter(
    (one) =>
      one.apiVersion === kind.apiVersion &&
      one.kind === kind.kind &&
      (name === undefined || nameOf(one) === name) &&
      (namespace === undefined || (isObject(one.metadata) && one.metadata.namespace === namespace)),
  );
  return found.length === 0 ? [null] : found;
}

const policyKinds = new Set(["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"]);
const bindingKinds = new Set(["ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding"]);

/** Other kinds in the file are ignored. */
function readKinds(file: string, kinds: ReadonlySet<string>): TestedPolicy[] {
  return readDocuments(file)
    .flatMap((document) => (isObject(document) ? [document, ...items(document, "items")] : []))
    .filter(({ kind }) => kinds.has(String(kind)))
    .map(({ kind, metadata, spec }) => ({
      kind: String(kind),
      name: isObject(metadata) ? String(metadata.name ?? "") : "",
      spec: isObject(spec) ? spec : {},
    }));
}

interface Input {
  readonly request: TestedRequest;
  /** All parameters. */
  readonly params: readonly PlainObject[];
  readonly isAuthorized: boolean;
}

function testPolicy(policy: TestedPolicy, binding: TestedPolicy | undefined, input: Input): TestResult[] {
  const why =
    whyUnmatched(policy.spec.matchConstraints as object | undefined, input.request, "matchConstraints") ??
    whyUnmatched(binding?.spec.matchResources as object | undefined, input.request, "matchResources of the binding") ??
    (policy.kind === "MutatingAdmissionPolicy" && input.request.object === null
      ? "deletions are not mutated"
      : undefined);
  const { request } = input;
  if (why !== undefined) return [unmatched(policy, binding, { request, why })];
  return paramsOf(policy, binding, input.params).map((params) => {
    const evaluation = evaluatePolicy(policy, { ...input, params });
    const result = { policy, binding: binding?.name, request, evaluation, verdict: verdictOf(policy, evaluation) };
    return input.params.length > 1 && params !== null ? { ...result, params: nameOf(params) } : result;
  });
}

function unmatched(
  policy: TestedPolicy,
  binding: TestedPolicy | undefined,
  { request, why }: { readonly request: TestedRequest; readonly why: string },
): TestResult {
  return { policy, binding: binding?.name, request, unmatched: why, verdict: { outcome: "unmatched", messages: [] } };
}

function verdictOf({ spec }: TestedPolicy, { conditions, expressions }: PolicyEvaluation): Verdict {
  if (conditions.some(({ value }) => value === false)) return { outcome: "unmatched", messages: [] };
  const errors = [...conditions, ...expressions].flatMap(({ field, error }) =>
    error === undefined || field.endsWith(".messageExpression") ? [] : [error],
  );
  if (errors.length > 0) return { outcome: spec.failurePolicy === "Ignore" ? "allowed" : "failed", messages: errors };
  const messages = items(spec, "validations").flatMap((validation, index) => {
    const resultOf = (member: string): unknown =>
      expressions.find(({ field }) => field === `validations[${index}].${member}`)?.value;
    if (resultOf("expression") === true) return [];
    const message =
      resultOf("messageExpression") ?? validation.message ?? `failed expression: ${validation.expression}`;
    return [String(message).trim()];
  });
  return { outcome: messages.length === 0 ? "allowed" : "denied", messages };
}

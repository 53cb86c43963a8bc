/** `coxswain policy test`: evaluates policies and bindings from files for one request. */
import { isObject } from "../../lib/json/values.ts";
import { InputError, type PlainObject, readDocuments } from "../cel/documents.ts";
import { evaluatePolicy, items, type PolicyEvaluation, type TestedPolicy } from "./evaluate-policy.ts";
import { type RequestOptions, readObject, type TestedRequest, testedRequest } from "./tested-request.ts";
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
  const request = testedRequest(options);
  const policies = files.flatMap((file) => readKinds(file, policyKinds));
  if (policies.length === 0) throw new InputError(`${files.join(", ")}: no policies`);
  const bindings = (options.binding ?? []).flatMap((file) => readKinds(file, bindingKinds));
  const params = options.params === undefined ? null : readObject(options.params);
  return policies.flatMap((policy) => {
    const own = bindings.filter(
      ({ kind, spec }) => kind === `${policy.kind}Binding` && spec.policyName === policy.name,
    );
    const tested = own.length === 0 && bindings.length === 0 ? [undefined] : own;
    if (tested.length === 0) return [unmatched(policy, undefined, "no binding names the policy")];
    return tested.map((binding) =>
      testPolicy(policy, binding, { request, params, isAuthorized: options.authorized === true }),
    );
  });
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
  readonly params: PlainObject | null;
  readonly isAuthorized: boolean;
}

function testPolicy(policy: TestedPolicy, binding: TestedPolicy | undefined, input: Input): TestResult {
  const why =
    whyUnmatched(policy.spec.matchConstraints as object | undefined, input.request, "matchConstraints") ??
    whyUnmatched(binding?.spec.matchResources as object | undefined, input.request, "matchResources of the binding") ??
    (policy.kind === "MutatingAdmissionPolicy" && input.request.object === null
      ? "deletions are not mutated"
      : undefined);
  if (why !== undefined) return unmatched(policy, binding, why);
  const evaluation = evaluatePolicy(policy, input);
  return { policy, binding: binding?.name, evaluation, verdict: verdictOf(policy, evaluation) };
}

function unmatched(policy: TestedPolicy, binding: TestedPolicy | undefined, why: string): TestResult {
  return { policy, binding: binding?.name, unmatched: why, verdict: { outcome: "unmatched", messages: [] } };
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

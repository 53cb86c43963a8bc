/**
 * Evaluates one ValidatingAdmissionPolicy for one parameter of a binding. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/validator.go.
 */
import { messageBytesMax, runtimeBudget } from "../../cel-environment/limits.ts";
import { OutOfBudget, type PolicyBindings, type PolicyEvaluator } from "../../cel-environment/policy-evaluator.ts";
import { type CelValue, typeNameOf } from "../../lib/cel/index.ts";
import type { Pauses } from "../../lib/pauses.ts";
import { type ConditionsResult, evaluateConditions } from "../expressions/match-conditions.ts";
import type { CompiledValidations } from "./compile-validations.ts";
import type { Policy } from "./contract.ts";

/** The decision of one validation. */
export interface Decision {
  readonly action: "admit" | "deny";
  readonly evaluation: "admit" | "error" | "deny";
  readonly message: string;
  readonly reason: string;
  readonly seconds: number;
}

/** The result of one audit annotation. */
export interface Annotation {
  readonly key: string;
  readonly action: "publish" | "error" | "exclude";
  /** The value, or the error. */
  readonly text: string;
  readonly seconds: number;
}

/** The result of one evaluation of a policy. */
export interface ValidationResult {
  /** One for each validation, unless match conditions exclude the request, or the policy failed. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly Annotation[];
  /** Undefined without match conditions. */
  readonly conditions?:
    | { readonly result: ConditionsResult; readonly errors: number; readonly seconds: number }
    | undefined;
}

/** Create the values of the variables, which differ between the expressions of a policy. */
export interface ValidationBindings {
  /** Without the namespace. */
  conditions(): PolicyBindings;
  validations(): PolicyBindings;
  /** Without the authorizer. */
  messages(): PolicyBindings;
}

interface Options {
  readonly failurePolicy: Policy["failurePolicy"];
  /** Between the expressions, each of which costs 1,000,000 units at most. */
  readonly pauses: Pauses;
  /** Returns a monotonic time in milliseconds. */
  now(): number;
}

/**
 * Evaluates match conditions, validations, messages and audit annotations. Errors become decisions
 * by the failure policy.
 */
export async function evaluateValidations(
  compiled: CompiledValidations,
  bindings: ValidationBindings,
  options: Options,
): Promise<ValidationResult> {
  const conditions =
    compiled.conditions && (await timedConditions(compiled.conditions, bindings.conditions(), options));
  if (conditions !== undefined && !conditions.result.matches) {
    const { error } = conditions.result;
    return { decisions: error === undefined ? [] : failed(error, options), annotations: [], conditions };
  }
  try {
    const evaluator = compiled.compiler.evaluator(bindings.validations(), runtimeBudget);
    const results: Timed[] = [];
    for (const { expression } of compiled.validations) {
      if (options.pauses.isDue()) await options.pauses.pause();
      results.push(timed(options, evaluator, expression));
    }
    const messages = compiled.hasMessages
      ? await evaluateMessages(compiled, bindings, evaluator.budget, options)
      : noMessages;
    const decisions: Decision[] = [];
    for (let index = 0; index < results.length; index++)
      decisions.push(decide(compiled, results[index] as Timed, { messages, index, options }));
    const annotations =
      compiled.annotations.length === 0 ? noAnnotations : await evaluateAnnotations(compiled, bindings, options);
    return { decisions, annotations, conditions };
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return { decisions: failed(error.message, options), annotations: [], conditions };
  }
}

function failed(message: string, { failurePolicy }: Options): Decision[] {
  return [{ ...errorDecision(failurePolicy, message), seconds: 0 }];
}

type Validated = CompiledValidations["validations"][number];

interface Timed {
  readonly value?: CelValue | undefined;
  readonly error?: string | undefined;
  readonly seconds: number;
}

function timed({ now }: Options, evaluator: PolicyEvaluator, expression: Validated["expression"]): Timed {
  const start = now();
  const { value, error } = evaluator.evaluate(expression);
  return { value, error, seconds: (now() - start) / 1000 };
}

async function timedConditions(
  conditions: NonNullable<CompiledValidations["conditions"]>,
  bindings: PolicyBindings,
  { now, pauses }: Options,
): Promise<NonNullable<ValidationResult["conditions"]>> {
  const start = now();
  const counts = { errors: 0 };
  const result = await evaluateConditions(conditions, bindings, pauses, counts);
  return { result, errors: counts.errors, seconds: (now() - start) / 1000 };
}

/** The texts by validation, or why no message was evaluated. */
type Messages = readonly (string | undefined)[] | { readonly error: string };

const noMessages: Messages = [];

/** Messages are evaluated for all validations, with the budget that these left. */
async function evaluateMessages(
  { compiler, validations }: CompiledValidations,
  bindings: ValidationBindings,
  budget: number,
  { pauses }: Options,
): Promise<Messages> {
  const evaluator = compiler.evaluator(bindings.messages(), budget);
  const texts: (string | undefined)[] = [];
  try {
    for (const { message } of validations) {
      if (pauses.isDue()) await pauses.pause();
      const { value } = message === undefined ? {} : evaluator.evaluate(message);
      texts.push(typeof value === "string" ? usable(value.trim()) : undefined);
    }
    return texts;
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return { error: error.message };
  }
}

/** Messages that are long or have several lines are not used. */
function usable(message: string): string | undefined {
  return message === "" || Buffer.byteLength(message) > messageBytesMax || message.includes("\n") ? undefined : message;
}

interface DecideOptions {
  readonly messages: Messages;
  readonly index: number;
  readonly options: Options;
}

function decide(
  { validations }: CompiledValidations,
  { value, error, seconds }: Timed,
  { messages, index, options }: DecideOptions,
): Decision {
  if (error !== undefined) return { ...errorDecision(options.failurePolicy, error), seconds };
  if ("error" in messages)
    return { ...errorDecision(options.failurePolicy, `failed messageExpression: ${messages.error}`), seconds };
  if (value === true) return { action: "admit", evaluation: "admit", message: "", reason: "", seconds };
  const { spec } = validations[index] as Validated;
  const message = messages[index] ?? spec.message?.trim() ?? "";
  return {
    action: "deny",
    evaluation: "deny",
    message: message === "" ? `failed expression: ${spec.expression?.trim()}` : message,
    reason: spec.reason ?? "Invalid",
    seconds,
  };
}

function errorDecision(failurePolicy: Policy["failurePolicy"], message: string): Omit<Decision, "seconds"> {
  return { action: failurePolicy === "Ignore" ? "admit" : "deny", evaluation: "error", message, reason: "" };
}

const noAnnotations: readonly Annotation[] = [];

/** @throws OutOfBudget */
async function evaluateAnnotations(
  { compiler, annotations }: CompiledValidations,
  bindings: ValidationBindings,
  options: Options,
): Promise<readonly Annotation[]> {
  const evaluator = compiler.evaluator(bindings.messages(), runtimeBudget);
  const results: Annotation[] = [];
  for (const annotation of annotations) {
    if (options.pauses.isDue()) await options.pauses.pause();
    results.push(annotationOf(annotation, timed(options, evaluator, annotation.expression), options));
  }
  return results;
}

function annotationOf(
  { key, expression }: CompiledValidations["annotations"][number],
  { value, error, seconds }: Timed,
  options: Options,
): Annotation {
  if (error !== undefined)
    return { key, action: options.failurePolicy === "Ignore" ? "exclude" : "error", text: error, seconds };
  if (value === null) return { key, action: "exclude", text: "", seconds };
  if (typeof value === "string") {
    const text = value.trim();
    return { key, action: text === "" ? "exclude" : "publish", text, seconds };
  }
  const type = value === undefined ? "" : typeNameOf(value);
  const text = `valueExpression '${expression.text}' resulted in unsupported return type: ${type}. Return type must be either string or null.`;
  return { key, action: "error", text, seconds };
}

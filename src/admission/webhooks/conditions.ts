/** The match conditions of webhooks. Loaded when a configuration has some. */
import { forbidden } from "../../apimachinery/errors.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import { storedExpressions } from "../../cel-environment/environments.ts";
import { PolicyCompiler } from "../../cel-environment/policy-expressions.ts";
import type { JsonValue } from "../../lib/cel/index.ts";
import { asGoNumbers } from "../../lib/json/number-literal.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import { Pauses } from "../../lib/pauses.ts";
import { AuthorizationChecks } from "../expressions/authorization-checks.ts";
import type { ConditionObserver, ConditionOwner } from "../expressions/contract.ts";
import {
  type ConditionsResult,
  compileConditions,
  evaluateConditions,
  recordConditions,
} from "../expressions/match-conditions.ts";
import { requestBindings } from "../expressions/request-bindings.ts";
import { requestedResource } from "../matching/kinds.ts";
import type { ConditionsInput, WebhookConditions, WebhookType } from "./contract.ts";

/** The webhook that has conditions. */
export interface ConditionsSpec {
  readonly webhook: string;
  readonly type: WebhookType;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly conditions: readonly { readonly name?: string; readonly expression?: string }[];
}

/** What the evaluation of conditions needs. */
export interface ConditionsNeeds {
  readonly authorize: Authorizer;
  readonly observer: ConditionObserver;
  /** Milliseconds since any moment. */
  readonly elapsed: () => number;
}

const variables = { hasParams: false, hasAuthorizer: true, hasPatchTypes: false, hasVariables: false };

/** Compiles the conditions of a webhook. */
export function openConditions(spec: ConditionsSpec, needs: ConditionsNeeds): WebhookConditions {
  const compiler = new PolicyCompiler(storedExpressions(), variables);
  const conditions = compileConditions(compiler, spec.conditions, spec.failurePolicy);
  const owner: ConditionOwner = { name: spec.webhook, kind: "webhook", type: spec.type };
  return async (input) => {
    const { operation } = input.attributes;
    const checks = new AuthorizationChecks(needs.authorize, input.attributes);
    const bindings = bindingsOf(input, checks);
    const startedAt = needs.elapsed();
    const counts = { errors: 0 };
    const pauses = new Pauses(needs.elapsed);
    const result = await checks.evaluate(() => evaluateConditions(conditions, bindings, pauses, counts));
    const seconds = (needs.elapsed() - startedAt) / 1000;
    recordConditions(needs.observer, { owner, operation, result, errors: counts.errors, seconds });
    const matches = isMatch(result, input);
    if (!matches) needs.observer.excluded(excludedOwner(owner), operation);
    return matches;
  };
}

/** Upstream's metrics of evaluations and of exclusions name validating webhooks in two ways. */
function excludedOwner(owner: ConditionOwner): ConditionOwner {
  return owner.type === "validating" ? { ...owner, type: "validate" } : owner;
}

/** @throws ApiError 403 */
function isMatch(result: ConditionsResult, { attributes: { target, name } }: ConditionsInput): boolean {
  if (result.matches || result.error === undefined) return result.matches;
  const { group, resource } = target.resource.definition;
  throw forbidden({ group, resource }, name, result.error);
}

/** `request.resource` is that of the request, though the kind is that of the match. */
function bindingsOf(
  { attributes, match, object, oldObject }: ConditionsInput,
  checks: AuthorizationChecks,
): ReturnType<typeof requestBindings> {
  return requestBindings({
    attributes,
    match: { resource: requestedResource(attributes), kind: match.kind },
    objects: {
      get object() {
        return parsed(object);
      },
      get oldObject() {
        return parsed(oldObject);
      },
    },
    checks,
  });
}

function parsed(json: Buffer | undefined): JsonValue {
  return json === undefined ? null : (parseEncoded(json, asGoNumbers) as JsonValue);
}

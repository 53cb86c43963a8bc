/** Selects the webhooks that are called for a request. */
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match } from "../matching/contract.ts";
import type { Webhook, WebhookConditions, WebhookType } from "./contract.ts";
import type { RequestObjects } from "./reviewed-objects.ts";
import { noCondition, noMatch, traceNotCalled } from "./trace-webhooks.ts";

/** The first webhook that may match, and its match, which may have to wait for the watch cache. */
export interface StartedMatching {
  readonly index: number;
  readonly match: Match | Promise<Match | undefined>;
}

/**
 * Finds the first webhook that may match, without waiting.
 *
 * @throws ApiError, see `Matcher.match`
 */
export function firstMatch(
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  type: WebhookType,
): StartedMatching | undefined {
  for (const [index, webhook] of webhooks.entries()) {
    const match = webhook.matcher.match(attributes);
    if (match !== undefined) return { index, match };
    if (attributes.trace !== undefined) traceNotCalled({ attributes, type, webhook }, noMatch);
  }
  return undefined;
}

/** A request that may match a webhook. */
interface Selection {
  readonly attributes: AdmissionAttributes;
  readonly type: WebhookType;
  /** Undefined if the rules or selectors do not match. */
  readonly match: Match | undefined;
  readonly objects: RequestObjects;
}

/**
 * Returns the match if the webhook is called: its rules, selectors and conditions match.
 *
 * @returns a promise only if the webhook has conditions
 * @throws ApiError 403 if a condition fails
 */
export function calledMatch(
  webhook: Webhook,
  { attributes, type, match, objects }: Selection,
): Match | undefined | Promise<Match | undefined> {
  const { conditions } = webhook;
  if (match === undefined) traceNotCalled({ attributes, type, webhook }, noMatch);
  else if (conditions !== undefined) return matchWithConditions(conditions, match);
  return match;

  async function matchWithConditions(evaluate: WebhookConditions, matched: Match): Promise<Match | undefined> {
    const reviewed = await objects.at(matched);
    if (await evaluate({ attributes, match: matched, ...reviewed })) return matched;
    traceNotCalled({ attributes, type, webhook }, noCondition);
    return undefined;
  }
}

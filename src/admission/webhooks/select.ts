/** Selects the webhooks that are called for a request. */
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Configurations } from "../configurations.ts";
import type { AdmissionPlugin } from "../contract.ts";
import type { Match } from "../matching/contract.ts";
import { findPossible } from "../matching/possible.ts";
import type { Webhook, WebhookType } from "./contract.ts";
import type { RequestObjects } from "./reviewed-objects.ts";
import type { WebhookSource } from "./source.ts";
import { noCondition, noMatch, traceNotCalled } from "./trace-webhooks.ts";

/** The first webhook whose rules and selectors match. */
export interface FirstMatch {
  readonly index: number;
  readonly match: Match;
}

/** Calls the matching webhooks of a list, of which the first is known. */
type CallMatching = (attributes: AdmissionAttributes, webhooks: readonly Webhook[], first: FirstMatch) => Promise<void>;

interface DispatcherNeeds {
  readonly webhooks: WebhookSource;
  readonly catalog: Pick<Catalog, "generation">;
}

/** Returns a step of a plugin, which waits only if a webhook can match the request. */
export function webhookDispatcher(
  { webhooks, catalog }: DispatcherNeeds,
  type: WebhookType,
  call: CallMatching,
): NonNullable<AdmissionPlugin["validate"]> {
  const possibleOf = findPossible<Webhook>(catalog, ({ matcher }) => matcher);
  const run = async (source: Configurations<Webhook>, attributes: AdmissionAttributes): Promise<void> => {
    if (!source.isLoaded()) await source.load();
    const list = source.current();
    const first = await firstMatch(list, attributes, type);
    if (first !== undefined) await call(attributes, list, first);
  };
  return (attributes) => {
    const source = webhooks(attributes);
    if (!source.isLoaded() || attributes.trace !== undefined) return run(source, attributes);
    const list = source.current();
    if (list.length > 0 && possibleOf(list, attributes).length > 0) return run(source, attributes);
  };
}

/** @throws ApiError, see `Matcher.match` */
async function firstMatch(
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  type: WebhookType,
): Promise<FirstMatch | undefined> {
  for (const [index, webhook] of webhooks.entries()) {
    const match = await webhook.matcher.match(attributes);
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
 * @throws ApiError 403 if a condition fails
 */
export async function calledMatch(
  webhook: Webhook,
  { attributes, type, match, objects }: Selection,
): Promise<Match | undefined> {
  const { conditions } = webhook;
  if (match === undefined) {
    traceNotCalled({ attributes, type, webhook }, noMatch);
    return undefined;
  }
  if (conditions === undefined) return match;
  if (await conditions({ attributes, match, ...(await objects.at(match)) })) return match;
  traceNotCalled({ attributes, type, webhook }, noCondition);
  return undefined;
}

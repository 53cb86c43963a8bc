/** Selects the webhooks that are called for a request. */
import type { AdmissionAttributes } from "../contract.ts";
import type { Match } from "../matching/contract.ts";
import type { Webhook } from "./contract.ts";
import type { RequestObjects } from "./reviewed-objects.ts";

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
export function firstMatch(webhooks: readonly Webhook[], attributes: AdmissionAttributes): StartedMatching | undefined {
  for (const [index, { matcher }] of webhooks.entries()) {
    const match = matcher.match(attributes);
    if (match !== undefined) return { index, match };
  }
  return undefined;
}

/** Whether the conditions of a webhook select the request. @throws ApiError 403 if one fails */
export async function isCalled(
  { conditions }: Webhook,
  attributes: AdmissionAttributes,
  match: Match,
  objects: RequestObjects,
): Promise<boolean> {
  return conditions === undefined || conditions({ attributes, match, ...(await objects.at(match)) });
}

/**
 * Authenticates tokens by webhook.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/webhook/webhook.go.
 */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { untilAborted } from "../../request/lifetime.ts";
import { type WebhookClient, WebhookError } from "../../webhook/contract.ts";
import { withBackoff } from "../../webhook/retry.ts";
import { decodeReview, type ReviewKind } from "../../webhook/review.ts";
import type { TokenAnswer, TokenAuthenticator } from "../contract.ts";

interface TokenWebhookOptions {
  readonly client: Pick<WebhookClient, "post">;
  /** TokenReview, in the version of requests and responses. */
  readonly kind: ReviewKind;
  /** The audiences of this server, which apply to responses without audiences. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns numbers from 0 up to, but not including, 1; for the jitter of retries. */
  readonly random?: () => number;
}

/** The delay before the second of five tries. */
const initialDelayMs = 500;
/** The limit for one call, and for all tries together. */
const timeoutMs = 30_000;
/** The maximum number of concurrent reviews; further tokens are rejected. Upstream has no limit. */
const reviewsMax = 10_000;

/** @returns an authenticator that calls the webhook */
export function tokenWebhook({
  client,
  kind,
  audiences: own,
  clock,
  logger,
  random,
}: TokenWebhookOptions): TokenAuthenticator {
  let inFlight = 0;
  return async (token, audiences) => {
    if (inFlight >= reviewsMax) return { problems: ["too many concurrent token reviews"] };
    inFlight++;
    const deadline = new AbortController();
    const clear = realClock(clock).after(timeoutMs, () => deadline.abort());
    const lifetime = untilAborted(deadline.signal);
    try {
      const body = encodeReview(kind, token, audiences);
      const review = await withBackoff({ initialDelayMs, clock, lifetime, ...(random && { random }) }, async () =>
        decodeReview(await client.post(body, { timeoutMs, lifetime }), kind),
      );
      return answerOf(review.status as ReviewStatus | undefined, audiences, own);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      logger.error("failed to make webhook authenticator request", { error: error.message.replaceAll(token, "…") });
      return { problems: [error.message] };
    } finally {
      inFlight--;
      clear();
    }
  };
}

/** Encodes a review with upstream's bytes. */
function encodeReview({ group, version, kind }: ReviewKind, token: string, audiences: readonly string[]): string {
  const review = {
    kind,
    apiVersion: `${group}/${version}`,
    metadata: {},
    spec: { token, audiences },
    status: { user: {} },
  };
  return `${JSON.stringify(review)}\n`;
}

/** The schema has checked the types of the fields; each field can be missing. */
interface ReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[] | null>>;
  };
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/** Checks the audiences first: a token for other audiences is an unknown token. */
function answerOf(status: ReviewStatus = {}, requested: readonly string[], own: readonly string[]): TokenAnswer {
  const { authenticated = false, user = {}, audiences = [], error = "" } = status;
  const tokenAudiences = audiences.length > 0 ? audiences : own;
  // As upstream, in the order of the response.
  const matching = tokenAudiences.filter((audience) => requested.includes(audience));
  if (matching.length === 0) return undefined;
  if (!authenticated) return error === "" ? undefined : { problems: [error] };
  const { username = "", uid = "", groups = [], extra = {} } = user;
  // Upstream accepts a user without a name.
  if (username === "") return { problems: ["the webhook authenticated a user without a name"] };
  const extras = new Map(Object.entries(extra).map(([key, values]) => [key, values ?? []]));
  return { user: { name: username, uid, groups, extra: extras }, audiences: matching };
}

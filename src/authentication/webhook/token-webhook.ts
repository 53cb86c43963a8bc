/** Asks another service whose token it is. Source: access-control §5.2, "Token webhook"; apiserver's token webhook. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { type WebhookClient, WebhookError } from "../../webhook/contract.ts";
import { withBackoff } from "../../webhook/retry.ts";
import { decodeReview, type ReviewKind } from "../../webhook/review.ts";
import type { TokenAnswer, TokenAuthenticator } from "../contract.ts";

export interface TokenWebhookOptions {
  readonly client: Pick<WebhookClient, "post">;
  /** TokenReview, in the version that is sent and that the answer must have. */
  readonly kind: ReviewKind;
  /** What this server is called: what a token is for whose answer does not say. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 up to 1. */
  readonly random?: () => number;
}

/** Before the second of five tries. */
const initialDelayMs = 500;
/** Of one call, and of all tries together. */
const timeoutMs = 30_000;
/** Tokens that are asked for at once; further ones are refused. Ours: upstream asks for any number. */
const tokensMax = 10_000;

export function tokenWebhook({
  client,
  kind,
  audiences: own,
  clock,
  logger,
  random,
}: TokenWebhookOptions): TokenAuthenticator {
  let underWay = 0;
  return async (token, audiences) => {
    if (underWay >= tokensMax) return { problem: "too many tokens are being asked for" };
    underWay++;
    const deadline = new AbortController();
    const clear = clock.after(timeoutMs, () => deadline.abort());
    try {
      const body = question(kind, token, audiences);
      const review = await withBackoff(
        { initialDelayMs, clock, signal: deadline.signal, ...(random && { random }) },
        async () => decodeReview(await client.post(body, { timeoutMs, signal: deadline.signal }), kind),
      );
      return answerOf(review.status as ReviewStatus | undefined, audiences, own);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      logger.error("failed to make webhook authenticator request", { error: error.message.replaceAll(token, "…") });
      return { problem: error.message };
    } finally {
      underWay--;
      clear();
    }
  };
}

/** Written as upstream writes it. */
function question({ group, version, kind }: ReviewKind, token: string, audiences: readonly string[]): string {
  const review = {
    kind,
    apiVersion: `${group}/${version}`,
    metadata: {},
    spec: { token, audiences },
    status: { user: {} },
  };
  return `${JSON.stringify(review)}\n`;
}

/** The types are those of the schema; each field may be absent. */
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

/** The audiences come first: who asks for others is nobody's concern. */
function answerOf(status: ReviewStatus = {}, asked: readonly string[], own: readonly string[]): TokenAnswer {
  const { authenticated = false, user = {}, audiences = [], error = "" } = status;
  const good = audiences.length > 0 ? audiences : own;
  // In the order of the answer, as upstream intersects.
  const matching = good.filter((audience) => asked.includes(audience));
  if (matching.length === 0) return undefined;
  if (!authenticated) return error === "" ? undefined : { problem: error };
  const { username = "", uid = "", groups = [], extra = {} } = user;
  // Upstream goes on with a user without a name.
  if (username === "") return { problem: "the webhook authenticated a user without a name" };
  const extras = new Map(Object.entries(extra).map(([key, values]) => [key, values ?? []]));
  return { user: { name: username, uid, groups, extra: extras }, audiences: matching };
}

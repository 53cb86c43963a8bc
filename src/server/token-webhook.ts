/** Builds the webhook that authenticates bearer tokens. */
import type { TokenAuthenticator, TokenCacheObserver, TokenWebhookSettings } from "../authentication/contract.ts";
import { acceptedMsDefault, tokenCache } from "../authentication/token-cache.ts";
import { tokenWebhook } from "../authentication/webhook/token-webhook.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { webhookClient } from "../webhook/client.ts";
import type { CallObserver } from "../webhook/contract.ts";
import { readWebhookKubeconfig } from "../webhook/kubeconfig-file.ts";
import type { ServerOptions } from "./options.ts";

export interface OpenTokenWebhook {
  readonly authenticate: TokenAuthenticator;
  close(): void;
}

export interface TokenWebhookNeeds extends Pick<ServerOptions, "clock" | "logger"> {
  /** The audiences of this server. */
  readonly audiences: readonly string[];
  readonly observer: TokenCacheObserver | undefined;
  readonly calls: CallObserver;
}

const versions = ["v1", "v1beta1"];
/** Far more than any UserInfo needs. */
const answerBytesMax = 1 << 20;

/** @throws Error with upstream's message for an unknown version, or a kubeconfig that is not valid */
export async function openTokenWebhook(
  configFile: string,
  { version, cacheMs }: TokenWebhookSettings,
  needs: TokenWebhookNeeds,
): Promise<OpenTokenWebhook> {
  if (!versions.includes(version))
    throw new Error(
      `unsupported authentication webhook version ${quoteGo(version)}, supported versions are ${versions.map(quoteGo).join(", ")}`,
    );
  const { clock, logger, audiences, observer, calls } = needs;
  if (cacheMs > 0 && cacheMs < acceptedMsDefault) logger.warn(shorterThanOverall(cacheMs));
  const endpoint = await readWebhookKubeconfig(configFile, { purpose: "authentication", logger });
  const client = webhookClient(endpoint, { answerBytesMax, clock, calls });
  const schema = builtinSchema(`io.k8s.api.authentication.${version}.TokenReview`);
  const kind = { group: "authentication.k8s.io", version, kind: "TokenReview", schema };
  const authenticate = tokenWebhook({ client, kind, audiences, clock, logger });
  return {
    authenticate: tokenCache(authenticate, { clock, acceptedMs: cacheMs, unknownMs: cacheMs, observer }),
    close: () => client.close(),
  };
}

/** The token cache over all methods keeps answers longer. */
function shorterThanOverall(cacheMs: number): string {
  const [own, overall] = [cacheMs, acceptedMsDefault].map((ms) => formatDuration(BigInt(Math.round(ms)) * 1_000_000n));
  return `the webhook cache ttl of ${own} is shorter than the overall cache ttl of ${overall} for successful token authentication attempts.`;
}

/** The service that is asked whose a token is, from the options to the question. */
import type { TokenAuthenticator, TokenCacheObserver, TokenWebhookSettings } from "../authentication/contract.ts";
import { acceptedMsDefault, tokenCache } from "../authentication/token-cache.ts";
import { tokenWebhook } from "../authentication/webhook/token-webhook.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { ServerOptions } from "../options.ts";
import { webhookClient } from "../webhook/client.ts";
import type { CallObserver } from "../webhook/contract.ts";
import { readWebhookKubeconfig } from "../webhook/kubeconfig-file.ts";

export interface OpenTokenWebhook {
  readonly authenticate: TokenAuthenticator;
  close(): void;
}

export interface TokenWebhookNeeds extends Pick<ServerOptions, "clock" | "logger"> {
  /** What this server is called. */
  readonly audiences: readonly string[];
  readonly observer: TokenCacheObserver | undefined;
  readonly calls: CallObserver;
}

const versions = ["v1", "v1beta1"];
/** Who somebody is fits into far less. */
const answerBytesMax = 1 << 20;

/** @throws Error in upstream's words for a version nobody knows, or a kubeconfig that is not right */
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

/** What another cache keeps of it for longer. */
function shorterThanOverall(cacheMs: number): string {
  const [own, overall] = [cacheMs, acceptedMsDefault].map((ms) => formatDuration(BigInt(Math.round(ms)) * 1_000_000n));
  return `the webhook cache ttl of ${own} is shorter than the overall cache ttl of ${overall} for successful token authentication attempts.`;
}

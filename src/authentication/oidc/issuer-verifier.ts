/** Checks the tokens of one issuer, once it has told where its keys are: it is asked in the background, until it does. Source: apiserver's oidc authenticator. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { discoverKeys } from "./discovery.ts";
import { type DocumentClient, DocumentError } from "./document-client.ts";
import { type CheckedClaims, checkIdToken } from "./id-token.ts";
import { type KeySet, remoteKeySet } from "./key-set.ts";

export interface IssuerVerifier {
  /** @returns the claims, or why the token is not taken; undefined as long as the issuer could not be asked */
  verify(token: string): Promise<CheckedClaims> | undefined;
  /** Resolves after the first attempt to ask the issuer. */
  readonly tried: Promise<void>;
  /** Resolves once tokens can be checked; never after `close`. */
  readonly ready: Promise<void>;
  /** Why tokens cannot be checked; undefined when they can. */
  problem(): string | undefined;
  close(): void;
}

export interface IssuerVerifierOptions {
  readonly url: string;
  /** Empty: the one that follows from the issuer's. */
  readonly discoveryUrl: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly client: DocumentClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Is told of each fetch of keys: with the document, if one came. */
  readonly onFetch?: (keySet: Buffer | undefined) => void;
}

const retryFirstMs = 1000;
const retryMaxMs = 10_000;

export function issuerVerifier({
  url,
  discoveryUrl,
  audiences,
  clock,
  logger,
  ...keySetOptions
}: IssuerVerifierOptions): IssuerVerifier {
  const { client } = keySetOptions;
  let keySet: KeySet | undefined;
  let problem: string | undefined = `oidc: authenticator for issuer ${JSON.stringify(url)} is not initialized`;
  let cancel = (): void => undefined;
  let closed = false;
  let becomeReady: () => void;
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });

  const attempt = async (retryMs: number): Promise<void> => {
    try {
      const keysUrl = await discoverKeys(client, { url, discoveryUrl });
      keySet = remoteKeySet({ ...keySetOptions, url: keysUrl, clock });
      problem = undefined;
      becomeReady();
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      if (closed) return;
      problem = error.message;
      logger.error("oidc authenticator: initializing plugin", { issuer: url, error: error.message });
      cancel = clock.after(retryMs, () => start(Math.min(retryMs * 2, retryMaxMs)));
    }
  };
  const start = (retryMs: number): Promise<void> =>
    attempt(retryMs).catch((error: unknown) =>
      logger.error("oidc authenticator: a mistake of ours", { issuer: url, error: String(error) }),
    );
  const check = async (keys: KeySet, token: string): Promise<CheckedClaims> => {
    const payload = await keys.verify(token);
    return typeof payload === "string" ? payload : checkIdToken(payload, { issuer: url, audiences, now: clock.now() });
  };

  return {
    verify: (token) => keySet && check(keySet, token),
    tried: start(retryFirstMs),
    ready,
    problem: () => problem,
    close() {
      closed = true;
      cancel();
    },
  };
}

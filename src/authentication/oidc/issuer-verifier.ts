/**
 * Verifies the tokens of one issuer. Discovery runs in the background until it succeeds.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/oidc/oidc.go.
 */

import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { discoverKeys } from "./discovery.ts";
import { type DocumentClient, DocumentError } from "./document-client.ts";
import { type CheckedClaims, checkIdToken } from "./id-token.ts";
import { type KeySet, remoteKeySet } from "./key-set.ts";

/** Verifies tokens of one issuer. */
export interface IssuerVerifier {
  /** @returns the claims or an error message; undefined before discovery has succeeded */
  verify(token: string): Promise<CheckedClaims> | undefined;
  /** Resolves after the first attempt of discovery. */
  readonly firstAttempt: Promise<void>;
  /** Resolves when discovery has succeeded; never after `close()`. */
  readonly ready: Promise<void>;
  /** The error of discovery; undefined after success. */
  problem(): string | undefined;
  close(): void;
}

interface IssuerVerifierOptions {
  readonly url: string;
  /** Empty for the default below `url`. */
  readonly discoveryUrl: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly client: DocumentClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives each fetched key set; undefined after a failure. */
  readonly onFetch?: (keySet: Buffer | undefined) => void;
}

const retryFirstMs = 1000;
const retryMaxMs = 10_000;

/** Starts discovery. @returns a verifier, which must be closed */
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
  let problem: string | undefined = `oidc: authenticator for issuer ${quoteGo(url)} is not initialized`;
  let cancel = (): void => undefined;
  let closed = false;
  let becomeReady: () => void;
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });

  const attempt = async (retryMs: number): Promise<void> => {
    try {
      const keysUrl = await discoverKeys(client, { url, discoveryUrl });
      keySet = remoteKeySet({ ...keySetOptions, url: keysUrl, clock: realClock(clock) });
      problem = undefined;
      becomeReady();
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      if (closed) return;
      problem = error.message;
      logger.error("oidc authenticator: initializing plugin", { issuer: url, error: error.message });
      cancel = realClock(clock).after(retryMs, () => start(Math.min(retryMs * 2, retryMaxMs)));
    }
  };
  const start = (retryMs: number): Promise<void> =>
    attempt(retryMs).catch((error: unknown) =>
      logger.error("oidc authenticator: internal error", { issuer: url, error: String(error) }),
    );
  const check = async (keys: KeySet, token: string): Promise<CheckedClaims> => {
    const payload = await keys.verify(token);
    return typeof payload === "string" ? payload : checkIdToken(payload, { issuer: url, audiences, now: clock.now() });
  };

  return {
    verify: (token) => keySet && check(keySet, token),
    firstAttempt: start(retryFirstMs),
    ready,
    problem: () => problem,
    close() {
      closed = true;
      cancel();
    },
  };
}

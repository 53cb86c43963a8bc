/**
 * The keys that verify the tokens of an external signer.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/externaljwt/plugin/keycache.go.
 */
import { createPublicKey } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { CallError } from "../../lib/grpc/socket-client.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { SignerObserver } from "../contract.ts";
import { type PublicKey, publicKeyOf, type VerificationKeys } from "../service-account/keys.ts";
import { type SignerClient, within } from "./client.ts";
import type { FetchKeysResponse, SentKey } from "./messages.ts";

interface KeyCacheOptions {
  readonly client: Pick<SignerClient, "fetchKeys">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: SignerObserver;
}

interface ExternalKey extends PublicKey {
  /** Whether the key only verifies tokens that were signed before. */
  readonly isExcluded: boolean;
}

interface Fetched {
  readonly keys: readonly ExternalKey[];
  readonly published: readonly PublicKey[];
  readonly refreshAt: number;
}

const fetchTimeoutMs = 60_000;
/** How long a request with an unknown key waits for the keys: upstream's limit of requests that write. */
const lookupTimeoutMs = 34_000;
const retryMs = 10_000;
/** Of the ids of keys. */
export const keyIdBytesMax = 1024;

/** Keeps the keys of a signer up to date. */
export class KeyCache implements VerificationKeys {
  readonly #options: KeyCacheOptions;
  #fetched: Fetched = { keys: [], published: [], refreshAt: 0 };
  #fetching: Promise<void> | undefined;
  #cancel: () => void = () => {};
  #closed = false;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /** Fetches the keys, and again when the signer says. @throws CallError */
  async start(): Promise<void> {
    await this.#fetch(fetchTimeoutMs);
    this.#schedule(this.#fetched.refreshAt - this.#options.clock.now());
  }

  /** Fetches the keys if none has the id. */
  async find(keyId: string): Promise<readonly PublicKey[]> {
    const known = this.#known(keyId);
    if (known.length > 0) return known;
    const { logger } = this.#options;
    try {
      await this.#fetch(lookupTimeoutMs);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      logger.error("Error while syncing keys", { error: error.message });
      return [];
    }
    return this.#known(keyId);
  }

  published(): readonly PublicKey[] {
    return this.#fetched.published;
  }

  maxAgeSeconds(): number {
    return Math.max(0, Math.floor((this.#fetched.refreshAt - this.#options.clock.now()) / 1000));
  }

  /** Whether the signer has the key only to verify tokens that were signed before. */
  async isExcluded(keyId: string): Promise<boolean> {
    await this.find(keyId);
    return this.#known(keyId).some(({ isExcluded }) => isExcluded);
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #known(keyId: string): readonly ExternalKey[] {
    const { keys } = this.#fetched;
    return keyId === "" ? keys : keys.filter((key) => key.keyId === keyId);
  }

  #schedule(delayMs: number): void {
    if (this.#closed) return;
    const { clock, logger } = this.#options;
    this.#cancel = clock.after(Math.max(0, delayMs), () => {
      this.#fetch(fetchTimeoutMs).then(
        () => this.#schedule(this.#fetched.refreshAt - clock.now()),
        (error: Error) => {
          logger.error("Cannot fetch the keys of the external signer; the present keys remain", {
            error: error.message,
          });
          this.#schedule(retryMs);
        },
      );
    });
  }

  /** Concurrent callers share one call. */
  #fetch(timeoutMs: number): Promise<void> {
    this.#fetching ??= this.#fetchNow(timeoutMs).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchNow(timeoutMs: number): Promise<void> {
    const { client, clock, observer } = this.#options;
    try {
      const answer = await within("while getting externally supported jwt signing keys", client.fetchKeys(timeoutMs));
      const keys = readKeys(answer);
      this.#fetched = {
        keys,
        published: keys.filter(({ isExcluded }) => !isExcluded),
        refreshAt: clock.now() + answer.refreshHintSeconds * 1000,
      };
      const { seconds = 0, nanos = 0 } = answer.dataTimestamp ?? {};
      observer.fetchedKeys("OK", seconds + nanos / 1e9);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      observer.fetchedKeys(error.code, undefined);
      throw error.within("while fetching token verification keys");
    }
  }
}

/** @throws CallError */
function readKeys({ refreshHintSeconds, keys = [], dataTimestamp }: FetchKeysResponse): ExternalKey[] {
  if (refreshHintSeconds <= 0) throw new CallError(`found invalid refresh hint (${refreshHintSeconds}s)`);
  if (keys.length === 0) throw new CallError("found no keys");
  if (dataTimestamp === undefined) throw new CallError("invalid data timestamp: proto: invalid nil Timestamp");
  return keys.map(readKey);
}

function readKey({ keyId, key, excludeFromOidcDiscovery }: SentKey): ExternalKey {
  const idBytes = Buffer.byteLength(keyId);
  if (idBytes === 0 || idBytes > keyIdBytesMax) throw new CallError(`found invalid public key id ${quoteGo(keyId)}`);
  if (key.length === 0) throw new CallError("found empty public key");
  const parsed = parseKey(key);
  if (parsed === undefined)
    throw new CallError("while parsing external public keys: the key is not an RSA or ECDSA public key");
  return { ...parsed, keyId, isExcluded: excludeFromOidcDiscovery };
}

function parseKey(der: Buffer): PublicKey | undefined {
  try {
    return publicKeyOf(createPublicKey({ key: der, format: "der", type: "spki" }));
  } catch (error) {
    // The messages of the library do not help, and can contain the key.
    if (/^ERR_(OSSL|CRYPTO|INVALID)/.test((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

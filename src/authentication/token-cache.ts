/**
 * Caches results of token authenticators by keyed hash.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/token/cache/cached_token_authenticator.go.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import type { AcceptedToken, TokenAnswer, TokenAuthenticator, TokenCacheObserver } from "./contract.ts";

interface TokenCacheOptions {
  readonly clock: Clock;
  /** How long accepted tokens are cached; 0 disables it. */
  readonly acceptedMs?: number;
  /**
   * How long unknown tokens are cached. Problems are never cached, because they can be temporary.
   */
  readonly unknownMs?: number;
  /** The maximum number of accepted tokens, and of unknown tokens. The oldest entry is evicted. */
  readonly entriesMax?: number;
  readonly observer?: TokenCacheObserver | undefined;
}

/** Upstream's default for `acceptedMs`. */
export const acceptedMsDefault = 10_000;

interface CachedToken {
  readonly token: AcceptedToken | undefined;
  readonly until: number;
}

type Lookup = (key: string, token: string, audiences: readonly string[]) => TokenAnswer | Promise<TokenAnswer>;

/** Adds a cache to an authenticator. Concurrent lookups of one token share one call. */
export function tokenCache(authenticate: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const { clock, observer } = options;
  const secret = randomBytes(32);
  const cache = resultCache(options);
  const shared = sharedLookup(authenticate, cache.set, observer);
  const lookup = observer === undefined ? shared : observedLookup(shared, observer, clock);
  return (token, audiences) => {
    const key = keyOf(secret, token, audiences);
    const found = cache.find(key);
    if (found === undefined) return lookup(key, token, audiences);
    const use = (): TokenAnswer => {
      observer?.hit();
      return found.token;
    };
    const isValid = found.token?.isStillValid?.() ?? true;
    if (isValid instanceof Promise) return isValid.then((valid) => (valid ? use() : lookup(key, token, audiences)));
    if (isValid) return use();
    cache.delete(key);
    return lookup(key, token, audiences); // Returns the problems.
  };
}

function resultCache({ clock, acceptedMs = acceptedMsDefault, unknownMs = 0, entriesMax = 4096 }: TokenCacheOptions) {
  const accepted = new Map<string, CachedToken>();
  // Separate, so that clients with invented tokens do not evict accepted ones.
  const unknown = new Map<string, CachedToken>();
  return {
    find(key: string): CachedToken | undefined {
      const found = accepted.get(key) ?? unknown.get(key);
      return found !== undefined && found.until > clock.now() ? found : undefined;
    },
    delete: (key: string) => accepted.delete(key),
    set(key: string, answer: AcceptedToken | undefined): void {
      const ttlMs = answer === undefined ? unknownMs : acceptedMs;
      if (ttlMs <= 0) return;
      const until = Math.min(clock.now() + ttlMs, answer?.expiresAt ?? Number.POSITIVE_INFINITY);
      const [cached, other] = answer === undefined ? [unknown, accepted] : [accepted, unknown];
      other.delete(key);
      cached.delete(key); // Keeps the map in the order of age.
      cached.set(key, { token: answer, until });
      if (cached.size > entriesMax) cached.delete(cached.keys().next().value as string);
    },
  };
}

function sharedLookup(
  authenticate: TokenAuthenticator,
  cacheResult: (key: string, answer: AcceptedToken | undefined) => void,
  observer: TokenCacheObserver | undefined,
): Lookup {
  const pending = new Map<string, Promise<TokenAnswer>>();
  const done = (key: string, answer: TokenAnswer): TokenAnswer => {
    const isProblem = answer !== undefined && "problems" in answer;
    observer?.fetched(!isProblem);
    if (!isProblem) cacheResult(key, answer);
    return answer;
  };
  const failed = (error: unknown): never => {
    observer?.fetched(false);
    throw error;
  };
  return (key, token, audiences) => {
    const inFlight = pending.get(key);
    if (inFlight !== undefined) return inFlight;
    observer?.fetching();
    const answer = authenticate(token, audiences);
    if (!(answer instanceof Promise)) return done(key, answer);
    const shared = answer.then((found) => done(key, found), failed).finally(() => pending.delete(key));
    pending.set(key, shared);
    return shared;
  };
}

function observedLookup(lookup: Lookup, observer: TokenCacheObserver, clock: Clock): Lookup {
  return (key, token, audiences) => {
    const since = clock.now();
    const answer = lookup(key, token, audiences);
    if (!(answer instanceof Promise)) {
      observer.missed(clock.now() - since);
      return answer;
    }
    observer.waiting(1);
    return answer.finally(() => {
      observer.waiting(-1);
      observer.missed(clock.now() - since);
    });
  };
}

/** Each part has its length as prefix, so that different lists have different encodings. */
function keyOf(secret: Buffer, token: string, audiences: readonly string[]): string {
  const hash = createHmac("sha256", secret).update(`${token.length}:${token}`);
  for (const audience of audiences) hash.update(`${audience.length}:${audience}`);
  return hash.digest("base64");
}

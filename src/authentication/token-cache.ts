/** Keeps what a token was worth for a moment, under a hash that nobody outside can compute. Source: access-control §5.2; apiserver's token cache. */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import type { AcceptedToken, TokenAnswer, TokenAuthenticator, TokenCacheObserver } from "./contract.ts";

export interface TokenCacheOptions {
  readonly clock: Clock;
  /** How long an acceptance is kept; 0 keeps none. */
  readonly acceptedMs?: number;
  /** How long it is kept that nobody knows the token. Problems are not kept, since they may pass. */
  readonly unknownMs?: number;
  /** Acceptances kept at once, and as many tokens that nobody knows; the oldest goes first. */
  readonly entriesMax?: number;
  readonly observer?: TokenCacheObserver | undefined;
}

/** How long acceptances are kept where nobody says otherwise, as upstream's. */
export const acceptedMsDefault = 10_000;

interface Kept {
  readonly token: AcceptedToken | undefined;
  readonly until: number;
}

type Look = (key: string, token: string, audiences: readonly string[]) => TokenAnswer | Promise<TokenAnswer>;

/** A token that several requests bring at once is looked at once. */
export function tokenCache(authenticate: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const { clock, observer } = options;
  const secret = randomBytes(32);
  const kept = keptAnswers(options);
  const once = lookOnce(authenticate, kept.keep, observer);
  const look = observer === undefined ? once : observedLook(once, observer, clock);
  return (token, audiences) => {
    const key = keyOf(secret, token, audiences);
    const found = kept.find(key);
    if (found === undefined) return look(key, token, audiences);
    const use = (): TokenAnswer => {
      observer?.hit();
      return found.token;
    };
    const holds = found.token?.stillHolds?.() ?? true;
    if (holds instanceof Promise) return holds.then((does) => (does ? use() : look(key, token, audiences)));
    if (holds) return use();
    kept.forget(key);
    return look(key, token, audiences); // Says why not.
  };
}

function keptAnswers({ clock, acceptedMs = acceptedMsDefault, unknownMs = 0, entriesMax = 4096 }: TokenCacheOptions) {
  const accepted = new Map<string, Kept>();
  // Of their own, so that whoever sends tokens that he made up drives out no good ones.
  const unknown = new Map<string, Kept>();
  return {
    find(key: string): Kept | undefined {
      const found = accepted.get(key) ?? unknown.get(key);
      return found !== undefined && found.until > clock.now() ? found : undefined;
    },
    forget: (key: string) => accepted.delete(key),
    keep(key: string, answer: AcceptedToken | undefined): void {
      const keptMs = answer === undefined ? unknownMs : acceptedMs;
      if (keptMs <= 0) return;
      const until = Math.min(clock.now() + keptMs, answer?.expiresAt ?? Number.POSITIVE_INFINITY);
      const [kept, other] = answer === undefined ? [unknown, accepted] : [accepted, unknown];
      other.delete(key);
      kept.delete(key); // So that the map stays in the order of age.
      kept.set(key, { token: answer, until });
      if (kept.size > entriesMax) kept.delete(kept.keys().next().value as string);
    },
  };
}

function lookOnce(
  authenticate: TokenAuthenticator,
  keep: (key: string, answer: AcceptedToken | undefined) => void,
  observer: TokenCacheObserver | undefined,
): Look {
  const pending = new Map<string, Promise<TokenAnswer>>();
  const done = (key: string, answer: TokenAnswer): TokenAnswer => {
    const isProblem = answer !== undefined && "problem" in answer;
    observer?.fetched(!isProblem);
    if (!isProblem) keep(key, answer);
    return answer;
  };
  const failed = (error: unknown): never => {
    observer?.fetched(false);
    throw error;
  };
  return (key, token, audiences) => {
    const underWay = pending.get(key);
    if (underWay !== undefined) return underWay;
    observer?.fetching();
    const answer = authenticate(token, audiences);
    if (!(answer instanceof Promise)) return done(key, answer);
    const whole = answer.then((found) => done(key, found), failed).finally(() => pending.delete(key));
    pending.set(key, whole);
    return whole;
  };
}

function observedLook(look: Look, observer: TokenCacheObserver, clock: Clock): Look {
  return (key, token, audiences) => {
    const since = clock.now();
    const answer = look(key, token, audiences);
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

/** Lengths stand between the parts, so that no two lists are written alike. */
function keyOf(secret: Buffer, token: string, audiences: readonly string[]): string {
  const hash = createHmac("sha256", secret).update(`${token.length}:${token}`);
  for (const audience of audiences) hash.update(`${audience.length}:${audience}`);
  return hash.digest("base64");
}

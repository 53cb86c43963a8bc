import type { UserInfo } from "../apimachinery/user.ts";
import type { Exchange } from "../http/contract.ts";

/**
 * `undefined`: the request carries nothing this method knows. `refused`: it does, and it is wrong; another method may still know the caller, but
 * nobody is anonymous then.
 */
export type Authenticated = UserInfo | "refused" | undefined;

/** What is told beside who the caller is. */
export interface AuthenticationNotes {
  /** Become `Warning` headers of the answer; nothing secret may stand in them. */
  readonly warnings: string[];
  /** Become annotations of the request's audit event. */
  annotations: AuditAnnotations | undefined;
}

export type AuditAnnotations = Readonly<Record<string, string>>;

export type Authenticator = (exchange: Exchange, notes: AuthenticationNotes) => Authenticated | Promise<Authenticated>;

export interface AcceptedToken {
  readonly user: UserInfo;
  /** Those asked for that the token is for; empty where the method knows no audiences. */
  readonly audiences: readonly string[];
  /** Milliseconds since 1970 from which on the token is worth nothing; undefined for tokens that say nothing of it. */
  readonly expiresAt?: number;
  /** Are told at each use. */
  readonly warnings?: readonly string[];
  readonly annotations?: AuditAnnotations;
  /** Asked at each use of a result that was kept: whether what the token is bound to is still there. */
  stillHolds?(): boolean | Promise<boolean>;
}

/**
 * One kind of token.
 * @param audiences what the token must be for, at least one of them; never empty
 * @returns why not, in words without the token itself, though claims may stand in them, for TokenReviews; never for the bearer, nor for a log. Undefined:
 *   a token of another kind
 */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => TokenAnswer | Promise<TokenAnswer>;

export type TokenAnswer = AcceptedToken | RefusedToken | undefined;

export interface RefusedToken {
  readonly problem: string;
  /** Of the request that brought it. */
  readonly annotations?: AuditAnnotations;
}

/** Another service that knows whose a token is. */
export interface TokenWebhookSettings {
  /** A kubeconfig that says where it is, and who we are to it. Undefined: nobody is asked. */
  readonly configFile: string | undefined;
  /** Of the TokenReviews that are sent and answered: `v1` or `v1beta1`. */
  readonly version: string;
  /** How long answers are kept, that nobody knows a token as well; 0 keeps none. */
  readonly cacheMs: number;
}

/** Told of what caches of tokens do. */
export interface TokenCacheObserver {
  hit(): void;
  /** A request whose token was not kept has its answer. */
  missed(milliseconds: number): void;
  /** @param change 1 when a request begins to wait for an answer that takes time, -1 when it has it */
  waiting(change: 1 | -1): void;
  /** The method behind is asked. */
  fetching(): void;
  /** @param ok whether it knew an answer, be it that nobody knows the token */
  fetched(ok: boolean): void;
}

/** Is told what becomes of tokens of identity providers. */
export interface JwtObserver {
  /** A token of the issuer was looked at, which had not been kept. */
  checked(issuer: string, accepted: boolean, durationMs: number): void;
  /** The keys of the issuer were fetched; without a document, that failed. */
  fetchedKeys(issuer: string, keySet: Buffer | undefined): void;
}

/** `legacy`: names no audience; `stale`, `valid`: should have been read again, or need not yet; the others are secrets' tokens. */
export type ServiceAccountTokenUse = "legacy" | "stale" | "valid" | "manual" | "auto" | "invalidated";

/** Told of tokens of service accounts when they are looked at, not of each use of an answer that was kept. */
export interface ServiceAccountTokenObserver {
  used(use: ServiceAccountTokenUse): void;
  /** The token of the secret was shown, be it marked as invalid. */
  usedSecret(namespace: string, name: string): void;
}

export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/** What a service account's token is to be for, and for how long. */
export interface TokenGrant {
  readonly namespace: string;
  readonly account: NamedObject;
  readonly audiences: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly expirationSeconds: number;
  /** Seconds after which the token should have been read again. */
  readonly warnAfterSeconds?: number;
  readonly pod?: NamedObject;
  /** With a pod: where it runs. */
  readonly node?: { readonly name: string; readonly uid?: string };
  readonly secret?: NamedObject;
}

/** A proxy that authenticates: callers are whom its headers name. Header names are in any case. */
export interface RequestHeaderOptions {
  /** PEM bundle of the authorities whose certificates make a proxy. Undefined: there is no proxy, and headers name nobody. */
  readonly clientCaFile: string | undefined;
  /** Common names that a proxy's certificate may have. None: any. */
  readonly allowedNames: readonly string[];
  /** The first with a value counts. */
  readonly usernameHeaders: readonly string[];
  /** The first with a value counts. */
  readonly uidHeaders: readonly string[];
  /** All values of all. */
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

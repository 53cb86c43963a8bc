/**
 * The contract of authenticators.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/authenticator/interfaces.go.
 */
import type { UserInfo } from "../apimachinery/user.ts";
import type { AuditAnnotations } from "../request/audit.ts";
import type { Exchange } from "../request/exchange.ts";

/**
 * The result of one authenticator. `undefined`: the request has no credentials for it. `rejected`:
 * the credentials are invalid; another authenticator can still accept the request, but it does not
 * become anonymous.
 */
export type Authenticated = UserInfo | "rejected" | undefined;

/** Collects further results of authentication. */
export interface AuthenticationNotes {
  /** Become `Warning` headers of the response. They must not contain secrets. */
  readonly warnings: string[];
  /** Become annotations of the audit event. */
  annotations: AuditAnnotations | undefined;
}

/** Authenticates a request by one method. */
export type Authenticator = (exchange: Exchange, notes: AuthenticationNotes) => Authenticated | Promise<Authenticated>;

/** The user of a valid token. */
export interface AcceptedToken {
  readonly user: UserInfo;
  /** The requested audiences that the token is valid for; empty for methods without audiences. */
  readonly audiences: readonly string[];
  /** In milliseconds since 1970; undefined for tokens without an expiration. */
  readonly expiresAt?: number;
  /** Added to the response of each request that uses the token. */
  readonly warnings?: readonly string[];
  readonly annotations?: AuditAnnotations;
  /**
   * Called for each use of a cached result: returns whether the objects that the token is bound to
   * still exist.
   */
  isStillValid?(): boolean | Promise<boolean>;
}

/**
 * Authenticates one kind of token.
 *
 * @param audiences the token must be valid for at least one of them; never empty
 * @returns problems for TokenReviews, which can contain claims but not the token, and must be
 *   neither logged nor sent to the bearer; undefined for tokens of another kind
 */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => TokenAnswer | Promise<TokenAnswer>;

/** The result of a token authenticator. */
export type TokenAnswer = AcceptedToken | RejectedToken | undefined;

/** An invalid token. */
export interface RejectedToken {
  /** At least one: the message of each authenticator that rejects the token. */
  readonly problems: readonly string[];
  /** For the audit event of the request. */
  readonly annotations?: AuditAnnotations;
}

/** The settings of a webhook that authenticates tokens. */
export interface TokenWebhookSettings {
  /** The path of a kubeconfig with the address and credentials. Undefined without a webhook. */
  readonly configFile: string | undefined;
  /** The version of the TokenReviews: `v1` or `v1beta1`. */
  readonly version: string;
  /** How long results are cached, including those of unknown tokens; 0 disables the cache. */
  readonly cacheMs: number;
}

/** Receives the events of token caches. */
export interface TokenCacheObserver {
  /** A lookup used a cached result. */
  hit(): void;
  /** A lookup without a cached result is done. */
  missed(milliseconds: number): void;
  /** @param change 1 when a request starts to wait for a lookup, -1 when the lookup is done */
  waiting(change: 1 | -1): void;
  /** The authenticator behind the cache is called. */
  fetching(): void;
  /**
   * The authenticator behind the cache is done.
   *
   * @param ok false after a problem; true also for an unknown token
   */
  fetched(ok: boolean): void;
}

/** Receives the results of JWT authenticators. */
export interface JwtObserver {
  /** A token that was not cached was verified. */
  checked(issuer: string, accepted: boolean, durationMs: number): void;
  /** The keys of the issuer were fetched. @param keySet undefined when the fetch failed */
  fetchedKeys(issuer: string, keySet: Buffer | undefined): void;
}

/**
 * `legacy`: without an audience; `stale`, `valid`: pod tokens after or before their renewal time;
 * the others are tokens of Secrets.
 */
export type ServiceAccountTokenUse = "legacy" | "stale" | "valid" | "manual" | "auto" | "invalidated";

/** Receives the verified service account tokens, except uses of cached results. */
export interface ServiceAccountTokenObserver {
  /** A token was verified. */
  used(use: ServiceAccountTokenUse): void;
  /** The token of a Secret was used, also when it is marked as invalid. */
  usedSecret(namespace: string, name: string): void;
}

/** Receives the calls of an external signer of service account tokens. */
export interface SignerObserver {
  /** @param method the path of the method @param code the name of the status in Go */
  called(method: string, code: string, milliseconds: number): void;
  /** @param dataSeconds when the keys were read from their source, since 1970; undefined after a failure */
  fetchedKeys(code: string, dataSeconds: number | undefined): void;
  /** A token was requested. */
  signed(code: string): void;
}

/** A reference to an object. */
export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/** The contents of a service account token to issue. */
export interface TokenGrant {
  readonly namespace: string;
  readonly account: NamedObject;
  readonly audiences: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly expirationSeconds: number;
  /** The time in seconds after which the pod should have read a renewed token. */
  readonly warnAfterSeconds?: number;
  readonly pod?: NamedObject;
  /** The node of the pod. */
  readonly node?: { readonly name: string; readonly uid?: string };
  readonly secret?: NamedObject;
}

/**
 * The options of authenticating proxies, which send the user in headers. Header names are
 * case-insensitive.
 */
export interface RequestHeaderOptions {
  /** The path of a PEM bundle with the authorities of proxies. Undefined ignores the headers. */
  readonly clientCaFile: string | undefined;
  /** The allowed common names of proxy certificates. Empty allows every name. */
  readonly allowedNames: readonly string[];
  /** The first header with a value is used. */
  readonly usernameHeaders: readonly string[];
  /** The first header with a value is used. */
  readonly uidHeaders: readonly string[];
  /** All values of all headers are used. */
  readonly groupHeaders: readonly string[];
  /** The rest of the name of a header with such a prefix is a key of the extra attributes of the user. */
  readonly extraHeaderPrefixes: readonly string[];
}

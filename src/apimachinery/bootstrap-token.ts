/**
 * Reads Secrets of bootstrap tokens. Source: Kubernetes docs, "Authenticating with Bootstrap
 * Tokens", heading "Bootstrap Token Secret Format";
 * k8s.io/cluster-bootstrap@v0.36.0/util/secrets/secrets.go.
 */
import { canonicalizeTime, TimeError } from "../lib/schema/time.ts";
import type { KubeObject } from "./object.ts";

/** The namespace of bootstrap token Secrets. */
export const bootstrapNamespace = "kube-system";
/** The type of bootstrap token Secrets. */
export const bootstrapTokenType = "bootstrap.kubernetes.io/token";
const namePrefix = "bootstrap-token-";

type Key =
  | "token-id"
  | "token-secret"
  | "expiration"
  | "usage-bootstrap-authentication"
  | "usage-bootstrap-signing"
  | "auth-extra-groups";

/** @returns the name of the Secret that holds the token */
export function bootstrapSecretName(tokenId: string): string {
  return `${namePrefix}${tokenId}`;
}

/** @returns the token id; undefined if the name is not that of a bootstrap token Secret */
export function tokenIdOfName(name: string): string | undefined {
  const id = name.startsWith(namePrefix) ? name.slice(namePrefix.length) : "";
  return /^[a-z0-9]{6}$/.test(id) ? id : undefined;
}

/** @returns the decoded value of the key; empty if the Secret does not have it */
export function bootstrapData(secret: KubeObject, key: Key): Buffer {
  const data: Readonly<Record<string, string>> = secret.data ?? {};
  return Buffer.from(Object.hasOwn(data, key) ? (data[key] as string) : "", "base64");
}

/**
 * @returns when the token expires, in milliseconds since 1970; -Infinity for an invalid time;
 *   undefined if it never expires
 */
export function bootstrapExpiration(secret: KubeObject): number | undefined {
  const text = bootstrapData(secret, "expiration").toString();
  if (text === "") return undefined;
  try {
    const seconds = canonicalizeTime(text);
    if (seconds === undefined) return Number.NEGATIVE_INFINITY;
    return Date.parse(seconds) + Math.floor(Number(`0.${/[.,](\d+)/.exec(text)?.[1] ?? 0}`) * 1000);
  } catch (error) {
    if (error instanceof TimeError) return Number.NEGATIVE_INFINITY;
    throw error;
  }
}

const defaultGroup = "system:bootstrappers";
const extraGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * @returns the groups of the token, sorted and without duplicates; undefined if the Secret names an
 *   invalid group
 */
export function bootstrapGroups(secret: KubeObject): readonly string[] | undefined {
  const text = bootstrapData(secret, "auth-extra-groups").toString();
  const extra = text === "" ? [] : text.split(",");
  return extra.every((group) => extraGroup.test(group)) ? [...new Set([defaultGroup, ...extra])].sort() : undefined;
}

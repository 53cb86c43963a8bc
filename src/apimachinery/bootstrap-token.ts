/** Secrets that hold bootstrap tokens, as authentication and controllers read them. Source: access-control §5.2; cluster-bootstrap's util/secrets. */
import { canonicalizeTime, TimeError } from "../lib/schema/time.ts";
import type { KubeObject } from "./object.ts";

export const bootstrapNamespace = "kube-system";
export const bootstrapTokenType = "bootstrap.kubernetes.io/token";
const namePrefix = "bootstrap-token-";

type Key =
  | "token-id"
  | "token-secret"
  | "expiration"
  | "usage-bootstrap-authentication"
  | "usage-bootstrap-signing"
  | "auth-extra-groups";

/** @returns the name of the secret that holds the token */
export function bootstrapSecretName(tokenId: string): string {
  return `${namePrefix}${tokenId}`;
}

/** @returns undefined for a name that no such secret may have */
export function tokenIdOfName(name: string): string | undefined {
  const id = name.startsWith(namePrefix) ? name.slice(namePrefix.length) : "";
  return /^[a-z0-9]{6}$/.test(id) ? id : undefined;
}

/** @returns no bytes when the key is not there */
export function bootstrapData(secret: KubeObject, key: Key): Buffer {
  const data: Readonly<Record<string, string>> = secret.data ?? {};
  return Buffer.from(Object.hasOwn(data, key) ? (data[key] as string) : "", "base64");
}

/** @returns milliseconds since 1970 from which on the token is worth nothing; what cannot be read as a time has long been over; undefined: never */
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

/** @returns each once, sorted; undefined when one of the secret's is none that it may name */
export function bootstrapGroups(secret: KubeObject): readonly string[] | undefined {
  const text = bootstrapData(secret, "auth-extra-groups").toString();
  const extra = text === "" ? [] : text.split(",");
  return extra.every((group) => extraGroup.test(group)) ? [...new Set([defaultGroup, ...extra])].sort() : undefined;
}

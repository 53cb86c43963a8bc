/** Tokens that stand in a secret and live as long as it. Source: pkg/serviceaccount's legacy. */
import { serviceAccountGroups, serviceAccountUser } from "../../api/service-account.ts";
import type { UserInfo } from "../../api/user.ts";
import { isSameSecret } from "../../lib/secrets/same-secret.ts";
import type { LiveObjects } from "./live-objects.ts";

export interface SecretClaims {
  readonly namespace: string;
  readonly account: string;
  readonly accountUid: string;
  readonly secret: string;
}

const prefix = "kubernetes.io/serviceaccount/";
const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";

/** @returns undefined when one is missing, or they contradict each other */
export function readSecretClaims(payload: Readonly<Record<string, unknown>>): SecretClaims | undefined {
  const text = (name: string): string => {
    const value = payload[`${prefix}${name}`];
    return typeof value === "string" ? value : "";
  };
  const namespace = text("namespace");
  const account = text("service-account.name");
  const claims = { namespace, account, accountUid: text("service-account.uid"), secret: text("secret.name") };
  if (Object.values(claims).includes("") || payload.sub !== serviceAccountUser(namespace, account)) return undefined;
  return claims;
}

/** @returns undefined when the secret still has this very token, and the account is there */
export function secretTokenProblem({ namespace, account, accountUid, secret }: SecretClaims, token: string, live: LiveObjects): string | undefined {
  const holder = live.read("secrets", namespace, secret);
  if (holder === undefined || holder.metadata.deletionTimestamp !== undefined) return "Token has been invalidated";
  if (!isSameSecret(Buffer.from(holder.data?.token ?? "", "base64"), Buffer.from(token))) return "Token does not match server's copy";
  const found = live.find("serviceaccounts", namespace, account);
  if (found === undefined) return `serviceaccounts ${JSON.stringify(account)} not found`;
  if (found.deletedAt !== undefined) return `ServiceAccount ${namespace}/${account} has been deleted`;
  if (found.uid !== accountUid) return `ServiceAccount UID (${found.uid}) does not match claim (${accountUid})`;
  if ((holder.metadata.labels?.[invalidSinceLabel] ?? "") !== "") return `the token in secret ${namespace}/${secret} has been marked invalid`;
  return undefined;
}

/** Whether the account names the secret as one of its own: then it was not a person who made it. */
export function isSecretOfAccount({ namespace, account, secret }: SecretClaims, live: LiveObjects): boolean {
  const secrets: unknown = live.read("serviceaccounts", namespace, account)?.secrets;
  return Array.isArray(secrets) && secrets.some((one: { readonly name?: unknown }) => one.name === secret);
}

export function secretTokenUser({ namespace, account, accountUid }: SecretClaims): UserInfo {
  return { name: serviceAccountUser(namespace, account), uid: accountUid, groups: serviceAccountGroups(namespace), extra: new Map() };
}

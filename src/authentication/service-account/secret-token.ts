/** Tokens that stand in a secret and live as long as it. Source: pkg/serviceaccount's legacy. */
import { serviceAccountGroups, serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
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

/** @returns what is missing, or wrong, in upstream's words */
export function readSecretClaims(payload: Readonly<Record<string, unknown>>): SecretClaims | string {
  const text = (name: string): string => {
    const value = payload[name];
    return typeof value === "string" ? value : "";
  };
  const [subject, namespace] = [text("sub"), text(`${prefix}namespace`)];
  const [account, accountUid] = [text(`${prefix}service-account.name`), text(`${prefix}service-account.uid`)];
  const secret = text(`${prefix}secret.name`);
  const missing = Object.entries({
    sub: subject,
    namespace,
    secretName: secret,
    serviceAccountName: account,
    serviceAccountUID: accountUid,
  }).find(([, value]) => value === "");
  if (missing !== undefined) return `${missing[0]} claim is missing`;
  return subject === serviceAccountUser(namespace, account)
    ? { namespace, account, accountUid, secret }
    : "sub claim is invalid";
}

/** @returns undefined when the secret still has this very token, and the account is there */
export function secretTokenProblem(
  { namespace, account, accountUid, secret }: SecretClaims,
  token: string,
  live: LiveObjects,
): string | undefined {
  const holder = live.read("secrets", namespace, secret);
  if (holder === undefined || holder.metadata.deletionTimestamp !== undefined) return "Token has been invalidated";
  if (!isSameSecret(Buffer.from(holder.data?.token ?? "", "base64"), Buffer.from(token)))
    return "Token does not match server's copy";
  const found = live.find("serviceaccounts", namespace, account);
  if (found === undefined) return `serviceaccounts ${JSON.stringify(account)} not found`;
  if (found.deletedAt !== undefined) return `ServiceAccount ${namespace}/${account} has been deleted`;
  if (found.uid !== accountUid) return `ServiceAccount UID (${found.uid}) does not match claim (${accountUid})`;
  return (holder.metadata.labels?.[invalidSinceLabel] ?? "") === ""
    ? undefined
    : markedInvalid({ namespace, account, secret });
}

function markedInvalid({ namespace, account, secret }: Pick<SecretClaims, "namespace" | "account" | "secret">): string {
  return `the token in secret ${namespace}/${secret} for service account ${namespace}/${account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel}' label from the secret to temporarily allow use of this token`;
}

/** Whether a problem is that somebody marked the token, which is told to whoever counts. */
export function isMarkedInvalid(problem: string, claims: SecretClaims): boolean {
  return problem === markedInvalid(claims);
}

/** Whether the account names the secret as one of its own: then it was not a person who made it. */
export function isSecretOfAccount({ namespace, account, secret }: SecretClaims, live: LiveObjects): boolean {
  const secrets: unknown = live.read("serviceaccounts", namespace, account)?.secrets;
  return Array.isArray(secrets) && secrets.some((one: { readonly name?: unknown }) => one.name === secret);
}

export function secretTokenUser({ namespace, account, accountUid }: SecretClaims): UserInfo {
  return {
    name: serviceAccountUser(namespace, account),
    uid: accountUid,
    groups: serviceAccountGroups(namespace),
    extra: new Map(),
  };
}

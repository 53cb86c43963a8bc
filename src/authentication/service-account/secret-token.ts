/**
 * Tokens in Secrets, which are valid as long as the Secret exists.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/legacy.go.
 */

import { serviceAccountGroups, serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isSameSecret } from "../../lib/secrets/same-secret.ts";
import type { LiveObjects } from "./live-objects.ts";

/** The claims of the token of a Secret. */
export interface SecretClaims {
  readonly namespace: string;
  readonly account: string;
  readonly accountUid: string;
  readonly secret: string;
}

const prefix = "kubernetes.io/serviceaccount/";
const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";

/** Reads the claims. @returns upstream's error message when claims are missing or invalid */
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

/** @returns undefined when the Secret still contains this token and the service account exists */
export function secretTokenProblem(
  { namespace, account, accountUid, secret }: SecretClaims,
  token: string,
  live: LiveObjects,
): string | undefined {
  const secretObject = live.read("secrets", namespace, secret);
  if (secretObject === undefined || secretObject.metadata.deletionTimestamp !== undefined)
    return "Token has been invalidated";
  if (!isSameSecret(Buffer.from(secretObject.data?.token ?? "", "base64"), Buffer.from(token)))
    return "Token does not match server's copy";
  const found = live.find("serviceaccounts", namespace, account);
  if (found === undefined) return `serviceaccounts ${quoteGo(account)} not found`;
  if (found.deletedAt !== undefined) return `ServiceAccount ${namespace}/${account} has been deleted`;
  if (found.uid !== accountUid) return `ServiceAccount UID (${found.uid}) does not match claim (${accountUid})`;
  return (secretObject.metadata.labels?.[invalidSinceLabel] ?? "") === ""
    ? undefined
    : markedInvalid({ namespace, account, secret });
}

function markedInvalid({ namespace, account, secret }: Pick<SecretClaims, "namespace" | "account" | "secret">): string {
  return `the token in secret ${namespace}/${secret} for service account ${namespace}/${account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel}' label from the secret to temporarily allow use of this token`;
}

/** @returns whether the problem is that the token is marked as invalid, which a metric counts */
export function isMarkedInvalid(problem: string, claims: SecretClaims): boolean {
  return problem === markedInvalid(claims);
}

/**
 * @returns whether the service account lists the Secret, which means that the Secret was created
 *   automatically
 */
export function isSecretOfAccount({ namespace, account, secret }: SecretClaims, live: LiveObjects): boolean {
  const secrets: unknown = live.read("serviceaccounts", namespace, account)?.secrets;
  return Array.isArray(secrets) && secrets.some((one: { readonly name?: unknown }) => one.name === secret);
}

/** Creates the user of the token. */
export function secretTokenUser({ namespace, account, accountUid }: SecretClaims): UserInfo {
  return {
    name: serviceAccountUser(namespace, account),
    uid: accountUid,
    groups: serviceAccountGroups(namespace),
    extra: new Map(),
  };
}

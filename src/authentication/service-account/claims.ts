/** What stands in a service account's token. Source: pkg/serviceaccount's claims and legacy. */
import { serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { NamedObject, TokenGrant } from "../contract.ts";

/** Seconds. A pod's token of this life is one that was put there by admission: its holder may not read it again in time. */
export const watchedExpirationSeconds = 3607;
/** Seconds such a token is good for all the same. */
export const extendedExpirationSeconds = 365 * 24 * 3600;

/** Stands in the tokens of secrets, whatever the issuer is. */
export const secretTokenIssuer = "kubernetes/serviceaccount";

/** All but the issuer. @param grant `jti` identifies the token */
export function tokenClaims(grant: TokenGrant & { readonly jti: string }): Record<string, unknown> {
  const { namespace, account, audiences, jti, pod, node, secret, expirationSeconds, warnAfterSeconds } = grant;
  const now = Math.floor(grant.now / 1000);
  return {
    aud: audiences,
    exp: now + expirationSeconds,
    iat: now,
    jti,
    "kubernetes.io": {
      namespace,
      ...(node !== undefined && { node: named(node) }),
      ...(pod !== undefined && { pod: named(pod) }),
      ...(secret !== undefined && { secret: named(secret) }),
      serviceaccount: named(account),
      ...(warnAfterSeconds !== undefined && { warnafter: now + warnAfterSeconds }),
    },
    nbf: now,
    sub: serviceAccountUser(namespace, account.name),
  };
}

function named({ name, uid }: { readonly name: string; readonly uid?: string }): object {
  return { name, ...(uid !== undefined && { uid }) };
}

/** Of a token that lives in a secret and as long as it. */
export function secretTokenClaims(
  namespace: string,
  account: NamedObject,
  secretName: string,
): Record<string, unknown> {
  return {
    "kubernetes.io/serviceaccount/namespace": namespace,
    "kubernetes.io/serviceaccount/secret.name": secretName,
    "kubernetes.io/serviceaccount/service-account.name": account.name,
    "kubernetes.io/serviceaccount/service-account.uid": account.uid,
    sub: serviceAccountUser(namespace, account.name),
  };
}

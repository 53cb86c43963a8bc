/**
 * The claims of service account tokens.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/claims.go and legacy.go.
 */
import { serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { NamedObject, TokenGrant } from "../contract.ts";

/**
 * In seconds. Admission requests pod tokens with this lifetime, whose holders possibly do not read
 * renewed tokens.
 */
export const watchedExpirationSeconds = 3607;
/**
 * In seconds. The actual lifetime of such tokens with `--service-account-extend-token-expiration`.
 */
export const extendedExpirationSeconds = 365 * 24 * 3600;

/** The issuer in the tokens of Secrets, independent of `--service-account-issuer`. */
export const secretTokenIssuer = "kubernetes/serviceaccount";

/** @param grant `jti` is the ID of the token @returns all claims except the issuer */
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

/** @returns all claims of the token of a Secret except the issuer */
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

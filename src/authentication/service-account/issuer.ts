/** Signs service account tokens. Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/jwt.go. */
import { secretTokenIssuer } from "./claims.ts";
import type { SigningKey } from "./keys.ts";
import { loadJose } from "./load-jose.ts";

/** Issues tokens. */
export interface TokenIssuer {
  /** @param claims all claims except the issuer @returns the token in compact form */
  issue(claims: Record<string, unknown>): Promise<string>;
  /** Issues the token of a Secret. */
  issueForSecret(claims: Record<string, unknown>): Promise<string>;
}

/** @returns an issuer with one key */
export function tokenIssuer({ privateKey, public: { keyId, algorithm } }: SigningKey, issuer: string): TokenIssuer {
  const sign = async (claims: Record<string, unknown>): Promise<string> => {
    const { SignJWT } = await loadJose();
    return new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: keyId }).sign(privateKey);
  };
  return {
    issue: (claims) => sign({ ...claims, iss: issuer }),
    issueForSecret: (claims) => sign({ ...claims, iss: secretTokenIssuer }),
  };
}

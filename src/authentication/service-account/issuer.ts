/** Signs service account tokens. Source: access-control §5.2; pkg/serviceaccount. */
import { secretTokenIssuer } from "./claims.ts";
import type { SigningKey } from "./keys.ts";
import { loadJose } from "./load-jose.ts";

export interface TokenIssuer {
  /** @param claims all but the issuer @returns the token, compact */
  issue(claims: Record<string, unknown>): Promise<string>;
  /** The same for the token of a secret. */
  issueForSecret(claims: Record<string, unknown>): Promise<string>;
}

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

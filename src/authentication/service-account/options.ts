/** What of the flags for service accounts contradicts itself. Source: kubeapiserver's authentication options. */
const hourMs = 3600_000;

/** @throws Error with upstream's text */
export function checkServiceAccountOptions(issuers: readonly string[], maxExpirationMs: number): void {
  if (issuers.length === 0) throw new Error("service-account-issuer is a required flag");
  for (const [index, issuer] of issuers.entries()) {
    if (issuer === "") throw new Error("service-account-issuer should not be an empty string");
    if (issuer.includes(":") && !URL.canParse(issuer))
      throw new Error(`service-account-issuer ${JSON.stringify(issuer)} contained a ':' but was not a valid URL`);
    if (issuers.indexOf(issuer) < index) throw new Error(`service-account-issuer ${JSON.stringify(issuer)} is already specified`);
  }
  const isPossible = maxExpirationMs === 0 || (maxExpirationMs >= hourMs && maxExpirationMs <= 2 ** 32 * 1000);
  if (!isPossible) throw new Error("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
}

/**
 * The flags `--oidc-*`. Undefined fields are flags that are not set.
 * Source: Kubernetes docs, "Authenticating", heading "OpenID Connect Tokens".
 */
export interface OidcOptions {
  /** An https URL. */
  readonly issuerUrl?: string;
  /** The required audience of tokens. */
  readonly clientId?: string;
  /** The path of a PEM bundle with the authorities of the issuer's certificate. */
  readonly caFile?: string;
  /** The claim with the user name; `sub` by default. */
  readonly usernameClaim?: string;
  /**
   * `-` disables the prefix. The default is the issuer URL with `#`, and no prefix for the claim
   * `email`.
   */
  readonly usernamePrefix?: string;
  /** The claim with the groups; none by default. */
  readonly groupsClaim?: string;
  /** Comes before each group. */
  readonly groupsPrefix?: string;
  /** Accepted algorithms of signatures; `RS256` by default. */
  readonly signingAlgs?: readonly string[];
  /** Required values by claim. */
  readonly requiredClaims?: Readonly<Record<string, string>>;
}

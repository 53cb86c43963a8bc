/** What the flags of OpenID Connect say. Undefined: the flag is not set. Source: access-control §5.2. */
export interface OidcOptions {
  /** https. */
  readonly issuerUrl?: string;
  /** What all tokens must be for. */
  readonly clientId?: string;
  /** PEM file with the authorities of the issuer's certificate. */
  readonly caFile?: string;
  readonly usernameClaim?: string;
  /** `-` is none; without one, it is the issuer, for claims other than `email`. */
  readonly usernamePrefix?: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix?: string;
  readonly signingAlgs?: readonly string[];
  /** Values by claim. */
  readonly requiredClaims?: Readonly<Record<string, string>>;
}

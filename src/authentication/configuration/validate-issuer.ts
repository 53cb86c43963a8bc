/**
 * Validates issuers, with upstream's messages.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/validation/validation.go.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { GoUrlError, parseGoUrl } from "../../lib/go-net/go-url.ts";
import { trimEndOf } from "../../lib/text/trim.ts";
import { parseCertificates } from "../../lib/x509/pem.ts";
import type { Issuer } from "./configuration.ts";

/** What a server allows of issuers. */
export interface IssuerLimits {
  /** The issuers of service account tokens. */
  readonly disallowedIssuers: readonly string[];
  /** The gate StructuredAuthenticationConfigurationEgressSelector. */
  readonly egressSelectorAllowed: boolean;
}

/** Adds a field error for each problem of an issuer. */
export function validateIssuer(issuer: Issuer, path: string, options: IssuerLimits, errors: FieldErrors): void {
  if (issuer.url === "") errors.required(`${path}.url`);
  else {
    checkIssuerAllowed(issuer.url, `${path}.url`, options.disallowedIssuers, errors);
    validateUrl(issuer.url, `${path}.url`, errors);
  }
  validateDiscoveryUrl(issuer, `${path}.discoveryURL`, errors);
  validateAudiences(issuer, path, errors);
  validateAuthority(issuer.certificateAuthority, `${path}.certificateAuthority`, errors);
  validateEgress(issuer.egressSelectorType, `${path}.egressSelectorType`, options, errors);
}

/** Issuers of service account tokens cannot be issuers of JWT authenticators. */
export function checkIssuerAllowed(
  url: string,
  path: string,
  disallowedIssuers: readonly string[],
  errors: FieldErrors,
): void {
  if (disallowedIssuers.includes(url))
    errors.invalid(
      path,
      url,
      `URL must not overlap with disallowed issuers: [${disallowedIssuers.toSorted().join(" ")}]`,
    );
}

function validateDiscoveryUrl({ url, discoveryUrl }: Issuer, path: string, errors: FieldErrors): void {
  if (discoveryUrl === "") return;
  if (url !== "" && trimEndOf(url, "/") === trimEndOf(discoveryUrl, "/"))
    errors.invalid(path, discoveryUrl, "discoveryURL must be different from URL");
  validateUrl(discoveryUrl, path, errors);
}

function validateUrl(text: string, path: string, errors: FieldErrors): void {
  try {
    const { scheme, user, rawQuery, fragment } = parseGoUrl(text);
    if (scheme !== "https") errors.invalid(path, text, "URL scheme must be https");
    if (user !== undefined) errors.invalid(path, text, "URL must not contain a username or password");
    if (rawQuery !== "") errors.invalid(path, text, "URL must not contain a query");
    if (fragment !== "") errors.invalid(path, text, "URL must not contain a fragment");
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    errors.invalid(path, text, error.message);
  }
}

const matchAny = "MatchAny";

function validateAudiences(
  { audiences, audienceMatchPolicy: policy }: Issuer,
  path: string,
  errors: FieldErrors,
): void {
  const at = `${path}.audiences`;
  if (audiences.length === 0) return errors.required(at, `at least one ${at} is required`);
  const seen = new Set<string>();
  for (const [index, audience] of audiences.entries()) {
    if (audience === "") errors.required(`${at}[${index}]`);
    if (seen.has(audience)) errors.duplicate(`${at}[${index}]`, audience);
    seen.add(audience);
  }
  if (audiences.length > 1 && policy !== matchAny)
    errors.invalid(
      `${path}.audienceMatchPolicy`,
      policy,
      "audienceMatchPolicy must be MatchAny for multiple audiences",
    );
  if (audiences.length === 1 && policy !== "" && policy !== matchAny)
    errors.invalid(
      `${path}.audienceMatchPolicy`,
      policy,
      "audienceMatchPolicy must be empty or MatchAny for single audience",
    );
}

function validateAuthority(pem: string, path: string, errors: FieldErrors): void {
  if (pem === "") return;
  try {
    parseCertificates(pem);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    errors.invalid(path, "<omitted>", error.message);
  }
}

function validateEgress(
  type: string,
  path: string,
  { egressSelectorAllowed }: IssuerLimits,
  errors: FieldErrors,
): void {
  if (type === "") return;
  if (!egressSelectorAllowed) {
    const gate = "StructuredAuthenticationConfigurationEgressSelector";
    errors.invalid(path, type, `egress selector is not supported when ${gate} feature gate is disabled`);
  }
  if (type !== "controlplane" && type !== "cluster")
    errors.invalid(path, type, "egress selector must be either controlplane or cluster");
}

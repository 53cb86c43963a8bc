/**
 * Validates `--service-account-*`, with upstream's messages.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/options/authentication.go.
 */
import { formatDuration } from "../../lib/duration/duration.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { extendedExpirationSeconds, watchedExpirationSeconds } from "./claims.ts";

interface ServiceAccountOptions {
  readonly serviceAccountIssuers: readonly string[];
  /** 0 for no limit. */
  readonly serviceAccountMaxTokenExpirationMs: number;
  readonly serviceAccountExtendTokenExpiration: boolean;
  readonly serviceAccountJwksUri?: string;
}

const hourMs = 3600_000;

/** @returns warnings @throws Error for invalid options */
export function checkServiceAccountOptions(options: ServiceAccountOptions): string[] {
  checkIssuers(options.serviceAccountIssuers);
  checkJwksUri(options.serviceAccountJwksUri ?? "");
  const maxMs = options.serviceAccountMaxTokenExpirationMs;
  if (maxMs === 0) return [];
  if (maxMs < hourMs || maxMs > 2 ** 32 * 1000)
    throw new Error("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
  return options.serviceAccountExtendTokenExpiration ? extensionWarnings(maxMs) : [];
}

function checkIssuers(issuers: readonly string[]): void {
  if (issuers.length === 0) throw new Error("service-account-issuer is a required flag");
  for (const [index, issuer] of issuers.entries()) {
    if (issuer === "") throw new Error("service-account-issuer should not be an empty string");
    if (issuer.includes(":") && !URL.canParse(issuer))
      throw new Error(`service-account-issuer ${quoteGo(issuer)} contained a ':' but was not a valid URL`);
    if (issuers.indexOf(issuer) < index)
      throw new Error(`service-account-issuer ${quoteGo(issuer)} is already specified`);
  }
}

function checkJwksUri(uri: string): void {
  if (uri === "" || URL.parse(uri)?.protocol === "https:") return;
  throw new Error(`service-account-jwks-uri requires https scheme, parsed as: ${uri}`);
}

function extensionWarnings(maxMs: number): string[] {
  const max = formatDuration(BigInt(maxMs) * 1_000_000n);
  const lead = "service-account-extend-token-expiration is true,";
  return [
    ...(maxMs < watchedExpirationSeconds * 1000
      ? [
          `${lead} in order to correctly trigger safe transition logic, service-account-max-token-expiration must be set longer than ${watchedExpirationSeconds} seconds (currently ${max})`,
        ]
      : []),
    ...(maxMs < extendedExpirationSeconds * 1000
      ? [
          `${lead} enabling tokens valid up to ${extendedExpirationSeconds} seconds, which is longer than service-account-max-token-expiration set to ${max}`,
        ]
      : []),
  ];
}

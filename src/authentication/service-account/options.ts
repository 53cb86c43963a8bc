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
  readonly serviceAccountKeyFiles: readonly string[];
  readonly serviceAccountSigningKeyFile: string | undefined;
  /** The socket of an external signer. */
  readonly serviceAccountSigningEndpoint: string | undefined;
}

const hourMs = 3600_000;

/** @returns warnings @throws Error for invalid options */
export function checkServiceAccountOptions(options: ServiceAccountOptions): string[] {
  checkIssuers(options.serviceAccountIssuers);
  checkJwksUri(options.serviceAccountJwksUri ?? "");
  const maxMs = options.serviceAccountMaxTokenExpirationMs;
  if (maxMs !== 0 && (maxMs < hourMs || maxMs > 2 ** 32 * 1000))
    throw new Error("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
  checkEndpoint(options);
  // The warnings for an external signer depend on its answers.
  return maxMs !== 0 && options.serviceAccountExtendTokenExpiration && !hasEndpoint(options)
    ? extensionWarnings(maxMs, ownTexts)
    : [];
}

function hasEndpoint({ serviceAccountSigningEndpoint }: ServiceAccountOptions): boolean {
  return serviceAccountSigningEndpoint !== undefined;
}

function checkEndpoint(options: ServiceAccountOptions): void {
  const { serviceAccountSigningEndpoint: endpoint, serviceAccountKeyFiles, serviceAccountSigningKeyFile } = options;
  if (endpoint === undefined) return;
  if (serviceAccountSigningKeyFile !== undefined)
    throw new Error(
      "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time",
    );
  if (serviceAccountKeyFiles.length > 0)
    throw new Error(
      "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)",
    );
  if (endpoint.startsWith("@") && !/^@[\w-]+(?:\.[\w-]+)*$/.test(endpoint))
    throw new Error(
      `invalid value ${quoteGo(endpoint)} passed for \`--service-account-signing-endpoint\`, when prefixed with @ must be a valid abstract socket name`,
    );
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

/** The texts of two warnings about a limit of lifetimes. */
interface ExtensionTexts {
  readonly transition: (max: string) => string;
  readonly extension: (max: string) => string;
}

const ownTexts: ExtensionTexts = {
  transition: (max) =>
    `service-account-max-token-expiration must be set longer than ${watchedExpirationSeconds} seconds (currently ${max})`,
  extension: (max) =>
    `enabling tokens valid up to ${extendedExpirationSeconds} seconds, which is longer than service-account-max-token-expiration set to ${max}`,
};
const externalTexts: ExtensionTexts = {
  transition: (max) =>
    `token lifetime supported by external-jwt-signer must be longer than ${watchedExpirationSeconds} seconds (currently ${max})`,
  extension: (max) =>
    `tokens validity will be caped at the smaller of ${extendedExpirationSeconds} seconds and maximum token lifetime supported by external-jwt-signer (${max})`,
};

/** @returns the warnings for a limit with an external signer, for extended tokens */
export function externalExtensionWarnings(maxMs: number): string[] {
  return extensionWarnings(maxMs, externalTexts);
}

function extensionWarnings(maxMs: number, { transition, extension }: ExtensionTexts): string[] {
  const max = formatDuration(BigInt(maxMs) * 1_000_000n);
  const lead = "service-account-extend-token-expiration is true,";
  return [
    ...(maxMs < watchedExpirationSeconds * 1000
      ? [`${lead} in order to correctly trigger safe transition logic, ${transition(max)}`]
      : []),
    ...(maxMs < extendedExpirationSeconds * 1000 ? [`${lead} ${extension(max)}`] : []),
  ];
}

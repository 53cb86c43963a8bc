/**
 * The settings of JWT authenticators and anonymous requests, from flags and the configuration file.
 */

import { aggregated, ConfigurationError } from "../../apimachinery/configuration-file.ts";
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { fileProblem } from "../../lib/kubeconfig/kubeconfig.ts";
import { signingAlgorithms } from "../oidc/jwt-authenticators.ts";
import {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  readAuthenticationConfiguration,
} from "./configuration.ts";
import type { OidcOptions } from "./contract.ts";
import { checkOidcOptions, configurationOfFlags } from "./flags.ts";
import { type CompiledAuthenticator, validateConfiguration } from "./validate.ts";
import { checkIssuerAllowed, type IssuerLimits } from "./validate-issuer.ts";

/** The validated settings. */
export interface AuthenticationSettings {
  readonly configuration: AuthenticationConfiguration;
  readonly authenticators: readonly CompiledAuthenticator[];
  readonly anonymous: AnonymousConfiguration;
  /** The allowed signing algorithms. */
  readonly algorithms: readonly string[];
  /** The file of the configuration; undefined when it comes from flags. */
  readonly source: { readonly file: string; readonly content: Buffer } | undefined;
  /** The options for validating a changed file. */
  readonly validation: IssuerLimits;
}

interface SettingsOptions {
  readonly oidc: OidcOptions;
  readonly configFile: string | undefined;
  /** Undefined when the flag is not set. */
  readonly anonymousAuth: boolean | undefined;
  readonly serviceAccountIssuers: readonly string[];
  readonly gates: FeatureGates;
}

/** Reads and validates the settings. @throws Error with upstream's messages */
export async function authenticationSettings(options: SettingsOptions): Promise<AuthenticationSettings> {
  const { oidc, configFile, gates, serviceAccountIssuers } = options;
  checkOidcOptions(oidc, configFile, gates.enabled("StructuredAuthenticationConfiguration"));
  const source = configFile === undefined ? undefined : { file: configFile, content: await readContent(configFile) };
  const configuration = source === undefined ? await configurationOfFlags(oidc) : parse(source.content, source.file);
  const egressSelectorAllowed = gates.enabled("StructuredAuthenticationConfigurationEgressSelector");
  const anonymous = anonymousOf(configuration, options.anonymousAuth);
  // As upstream, checkIssuers checks the overlap with service account issuers later, with a shorter field path.
  const { errors, authenticators } = validateConfiguration(configuration, {
    disallowedIssuers: [],
    egressSelectorAllowed,
  });
  const problem = aggregated(errors);
  if (problem !== undefined) throw new Error(`invalid authentication configuration: ${problem}`);
  const algorithms = source === undefined ? flagAlgorithms(oidc) : signingAlgorithms;
  checkIssuers(configuration, serviceAccountIssuers);
  return {
    configuration,
    authenticators,
    anonymous,
    algorithms,
    source,
    validation: { disallowedIssuers: serviceAccountIssuers, egressSelectorAllowed },
  };
}

const cannotLoad = (file: string, problem: string | undefined): string =>
  `failed to load authentication configuration from file ${quoteGo(file)}: ${problem}`;

async function readContent(file: string): Promise<Buffer> {
  try {
    return await readBoundedFile(file);
  } catch (error) {
    throw new Error(cannotLoad(file, fileProblem(error, file)), { cause: error });
  }
}

function parse(content: Buffer, file: string): AuthenticationConfiguration {
  try {
    return readAuthenticationConfiguration(content);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new Error(cannotLoad(file, error.message));
  }
}

function anonymousOf(
  { anonymous }: AuthenticationConfiguration,
  anonymousAuth: boolean | undefined,
): AnonymousConfiguration {
  if (anonymous === undefined) return { enabled: anonymousAuth ?? true, conditions: [] };
  if (anonymousAuth === undefined) return anonymous;
  throw new Error(
    "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file",
  );
}

function flagAlgorithms({ signingAlgs = ["RS256"] }: OidcOptions): readonly string[] {
  const unknown = signingAlgs.find((one) => !signingAlgorithms.includes(one));
  if (unknown !== undefined) throw new Error(`oidc: unsupported signing alg: ${quoteGo(unknown)}`);
  return signingAlgs.length === 0 ? ["RS256"] : signingAlgs;
}

function checkIssuers({ jwt }: AuthenticationConfiguration, serviceAccountIssuers: readonly string[]): void {
  for (const { issuer } of jwt) {
    const errors = new FieldErrors();
    checkIssuerAllowed(issuer.url, "issuer.url", serviceAccountIssuers, errors);
    const problem = aggregated(errors);
    if (problem !== undefined) throw new Error(problem);
  }
}

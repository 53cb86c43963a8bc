/**
 * Converts the flags `--oidc-*` into a configuration, with upstream's error messages.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/options/authentication.go.
 */
import { readGiven } from "../../lib/kubeconfig/kubeconfig.ts";
import type { AuthenticationConfiguration, JwtAuthenticator } from "./configuration.ts";
import type { OidcOptions } from "./contract.ts";

/**
 * Checks the combination of flags.
 *
 * @param configFileAllowed the gate StructuredAuthenticationConfiguration
 * @throws Error when flags contradict each other
 */
export function checkOidcOptions(oidc: OidcOptions, configFile: string | undefined, configFileAllowed: boolean): void {
  if (configFile !== undefined && !configFileAllowed)
    throw new Error("set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file");
  const isSet = Object.values(oidc).some((value) => value !== undefined);
  if (!isSet) return;
  if (configFile !== undefined) throw new Error("authentication-config file and oidc-* flags are mutually exclusive");
  const { issuerUrl = "", clientId = "" } = oidc;
  if (issuerUrl === "" || clientId === "")
    throw new Error("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set");
}

/**
 * @returns the configuration of the flags; without authenticators when they are not set
 * @throws Error when the CA file is unreadable
 */
export async function configurationOfFlags(oidc: OidcOptions): Promise<AuthenticationConfiguration> {
  const { issuerUrl = "", caFile = "" } = oidc;
  return {
    jwt:
      issuerUrl === ""
        ? []
        : [authenticatorOf(oidc, issuerUrl, caFile === "" ? "" : (await readGiven(caFile)).toString())],
  };
}

function authenticatorOf(oidc: OidcOptions, issuerUrl: string, certificateAuthority: string): JwtAuthenticator {
  const { clientId = "", usernameClaim = "sub", groupsClaim = "", groupsPrefix = "", requiredClaims = {} } = oidc;
  const none = { claim: "", expression: "" };
  return {
    issuer: {
      url: issuerUrl,
      discoveryUrl: "",
      certificateAuthority,
      audiences: [clientId],
      audienceMatchPolicy: "",
      egressSelectorType: "",
    },
    claimValidationRules: Object.entries(requiredClaims).map(([claim, requiredValue]) => ({
      claim,
      requiredValue,
      expression: "",
      message: "",
    })),
    claimMappings: {
      username: { claim: usernameClaim, prefix: usernamePrefix(oidc, usernameClaim, issuerUrl), expression: "" },
      groups: groupsClaim === "" ? none : { claim: groupsClaim, prefix: groupsPrefix, expression: "" },
      uid: none,
      extra: [],
    },
    userValidationRules: [],
  };
}

/** The default prefix separates users of different issuers; email addresses are globally unique. */
function usernamePrefix({ usernamePrefix: prefix = "" }: OidcOptions, claim: string, issuerUrl: string): string {
  if (prefix === "-") return "";
  return prefix === "" && claim !== "email" ? `${issuerUrl}#` : prefix;
}

/** The flags `--oidc-*` as a configuration. Source: kube-apiserver's BuiltInAuthenticationOptions, whose texts these are. */
import { readGiven } from "../../lib/kubeconfig/kubeconfig.ts";
import type { AuthenticationConfiguration, JwtAuthenticator } from "./configuration.ts";
import type { OidcOptions } from "./contract.ts";

/**
 * @param configFileAllowed gate StructuredAuthenticationConfiguration
 * @throws Error when flags are set that do not go together
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

/** @throws Error for a file that cannot be read */
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

/** Names of different issuers are kept apart, but for addresses, which are the same everywhere. */
function usernamePrefix({ usernamePrefix: prefix = "" }: OidcOptions, claim: string, issuerUrl: string): string {
  if (prefix === "-") return "";
  return prefix === "" && claim !== "email" ? `${issuerUrl}#` : prefix;
}

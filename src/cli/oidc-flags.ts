/** OpenID Connect flags. Names and defaults are kube-apiserver's. */
import type { OidcOptions } from "../authentication/configuration/contract.ts";
import { FlagValueError, stringSlice } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Draft = { server: { oidc: OidcOptions } };

function oidcFlag(
  term: string,
  help: string,
  change: (text: string, before: OidcOptions) => Partial<OidcOptions>,
  unset?: string,
): Flag {
  return {
    term: `--oidc-${term}`,
    help,
    ...(unset !== undefined && { unset }),
    set(text, { server }: Draft) {
      server.oidc = { ...server.oidc, ...change(text, server.oidc) };
    },
  };
}

/** Parses `claim=value`; spaces around both are removed. */
function requiredClaim(text: string, { requiredClaims = {} }: OidcOptions): Pick<OidcOptions, "requiredClaims"> {
  const at = text.indexOf("=");
  if (at < 0) throw new FlagValueError("malformed pair, expect string=string");
  return { requiredClaims: { ...requiredClaims, [text.slice(0, at).trim()]: text.slice(at + 1).trim() } };
}

export const oidcFlags: readonly Flag[] = [
  oidcFlag("issuer-url <url>", "https URL of the OpenID Connect issuer whose ID tokens are accepted.", (issuerUrl) => ({
    issuerUrl,
  })),
  oidcFlag(
    "client-id <id>",
    "Required audience of the ID tokens; must be set together with --oidc-issuer-url.",
    (clientId) => ({
      clientId,
    }),
  ),
  oidcFlag(
    "ca-file <file>",
    "PEM file with the certificate authorities of the issuer. If unset, those of the host.",
    (caFile) => ({ caFile }),
  ),
  oidcFlag(
    "username-claim <claim>",
    "The claim with the user's name. If unset, sub.",
    (usernameClaim) => ({ usernameClaim }),
    "sub",
  ),
  oidcFlag(
    "username-prefix <prefix>",
    "Prefix of user names; - is none. If unset, the issuer URL and #, except if the username claim is email.",
    (usernamePrefix) => ({ usernamePrefix }),
  ),
  oidcFlag(
    "groups-claim <claim>",
    "The claim with the user's groups: a string or a list of strings.",
    (groupsClaim) => ({
      groupsClaim,
    }),
  ),
  oidcFlag("groups-prefix <prefix>", "Prefix of groups.", (groupsPrefix) => ({ groupsPrefix })),
  oidcFlag(
    "required-claim <claim=value>",
    "A claim and value that ID tokens must have; may be repeated.",
    requiredClaim,
  ),
  oidcFlag(
    "signing-algs <algorithms>",
    "Comma-separated list of accepted signing algorithms: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512. If unset, RS256.",
    (text, { signingAlgs = [] }) => ({ signingAlgs: [...signingAlgs, ...stringSlice(text)] }),
    "RS256",
  ),
];

/** The flags of identity providers. Names and defaults are kube-apiserver's. */
import type { OidcOptions } from "../authentication/configuration/contract.ts";
import { FlagValueError, stringSlice } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Draft = { server: { oidc: OidcOptions } };

function oidcFlag(
  term: string,
  help: string,
  change: (text: string, before: OidcOptions) => Partial<OidcOptions>,
): Flag {
  return {
    term: `--oidc-${term}`,
    help,
    set(text, { server }: Draft) {
      server.oidc = { ...server.oidc, ...change(text, server.oidc) };
    },
  };
}

/** Spaces around either do not count. */
function requiredClaim(text: string, { requiredClaims = {} }: OidcOptions): Pick<OidcOptions, "requiredClaims"> {
  const at = text.indexOf("=");
  if (at < 0) throw new FlagValueError("malformed pair, expect string=string");
  return { requiredClaims: { ...requiredClaims, [text.slice(0, at).trim()]: text.slice(at + 1).trim() } };
}

export const oidcFlags: readonly Flag[] = [
  oidcFlag(
    "issuer-url <url>",
    "https URL of an OpenID Connect issuer, whose id tokens identify their subjects.",
    (issuerUrl) => ({ issuerUrl }),
  ),
  oidcFlag("client-id <id>", "What those tokens must be for; goes together with --oidc-issuer-url.", (clientId) => ({
    clientId,
  })),
  oidcFlag(
    "ca-file <file>",
    "PEM file with the authorities of the issuer's certificate. If unset, those of this machine.",
    (caFile) => ({ caFile }),
  ),
  oidcFlag("username-claim <claim>", "The claim with the user's name. If unset, sub.", (usernameClaim) => ({
    usernameClaim,
  })),
  oidcFlag(
    "username-prefix <prefix>",
    "Stands before names; - is none. If unset, the issuer's URL and #, but for names of the claim email.",
    (usernamePrefix) => ({ usernamePrefix }),
  ),
  oidcFlag("groups-claim <claim>", "The claim with the user's groups: a text, or a list of them.", (groupsClaim) => ({
    groupsClaim,
  })),
  oidcFlag("groups-prefix <prefix>", "Stands before groups.", (groupsPrefix) => ({ groupsPrefix })),
  oidcFlag(
    "required-claim <claim=value>",
    "A claim that must be there, with this value; may be repeated.",
    requiredClaim,
  ),
  oidcFlag(
    "signing-algs <algorithms>",
    "What tokens may be signed with, with commas between: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512. If unset, RS256.",
    (text, { signingAlgs = [] }) => ({ signingAlgs: [...signingAlgs, ...stringSlice(text)] }),
  ),
];

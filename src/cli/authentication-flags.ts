/** The flags of authentication. Names and defaults are kube-apiserver's. */
import { defaultOptions } from "../index.ts";
import { boolValue, durationMs, FlagValueError, stringSlice, unlessEmpty } from "./flag-values.ts";
import type { Flag } from "./flags.ts";
import { oidcFlags } from "./oidc-flags.ts";
import { requestHeaderFlags } from "./request-header-flags.ts";

export const authenticationFlags: readonly Flag[] = [
  {
    term: "--anonymous-auth [bool]",
    help: "Lets requests without credentials pass as system:anonymous of the group system:unauthenticated. If unset, true, unless --authentication-config says otherwise.",
    set: (text, { server }) => {
      server.anonymousAuth = boolValue(text);
    },
  },
  {
    term: "--authentication-config <file>",
    help: "File with an AuthenticationConfiguration: issuers of tokens, and where anonymous requests may go. Followed while the server runs; not together with --oidc-*, nor with --anonymous-auth when it says so itself.",
    set: (text, { server }) => {
      server.authenticationConfigFile = unlessEmpty(text);
    },
  },
  {
    term: "--egress-selector-config-file <file>",
    help: "File with an EgressSelectorConfiguration: the ways to issuers whose configuration names a type of egress.",
    set: (text, { server }) => {
      server.egressSelectorConfigFile = unlessEmpty(text);
    },
  },
  ...oidcFlags,
  {
    term: "--client-ca-file <file>",
    help: "PEM file with authorities; a client certificate signed by one of them identifies its common name, with its organizations as groups.",
    set: (text, { server }) => {
      server.clientCaFile = unlessEmpty(text);
    },
  },
  ...requestHeaderFlags,
  {
    term: "--enable-bootstrap-token-auth [bool]",
    help: "Takes the tokens in secrets of the type bootstrap.kubernetes.io/token in the namespace kube-system, by which nodes join.",
    shown: "false",
    set: (text, { server }) => {
      server.bootstrapTokenAuth = boolValue(text);
    },
  },
  {
    term: "--token-auth-file <file>",
    help: "CSV file with bearer tokens: token, user name, user uid and, in one quoted column with commas between, groups. Read at the start alone.",
    set: (text, { server }) => {
      server.tokenAuthFile = unlessEmpty(text);
    },
  },
  {
    term: "--authentication-token-webhook-config-file <file>",
    help: "Kubeconfig of the service that is asked, by a TokenReview, whose a bearer token is that nobody here knows.",
    set: (text, { server }) => {
      server.tokenWebhook = { ...server.tokenWebhook, configFile: unlessEmpty(text) };
    },
  },
  {
    term: "--authentication-token-webhook-version <version>",
    help: "The version of the TokenReviews that are sent to that service and that it answers: v1 or v1beta1.",
    shown: "v1beta1",
    set: (text, { server }) => {
      server.tokenWebhook = { ...server.tokenWebhook, version: text };
    },
  },
  {
    term: "--authentication-token-webhook-cache-ttl <duration>",
    help: "How long the answers of that service are kept.",
    shown: "2m0s",
    set: (text, { server }) => {
      server.tokenWebhook = { ...server.tokenWebhook, cacheMs: durationMs(text) };
    },
  },
  {
    term: "--api-audiences <names>",
    help: "What service account tokens that are for this server name, with commas between. If unset, the values of --service-account-issuer.",
    set: (text, { server }) => {
      server.apiAudiences = [...server.apiAudiences, ...stringSlice(text)];
    },
  },
  {
    term: "--service-account-issuer <issuer>",
    help: "Who issues service account tokens, best an https URL. May be repeated: the first stands in new tokens, those of all are accepted.",
    shown: "https://kubernetes.default.svc.cluster.local",
    set: (text, { server }) => {
      const before =
        server.serviceAccountIssuers === defaultOptions.serviceAccountIssuers ? [] : server.serviceAccountIssuers;
      server.serviceAccountIssuers = [...before, text];
    },
  },
  {
    term: "--service-account-jwks-uri <url>",
    help: "Where others get the keys by which they check service account tokens, an https URL. If unset, the path /openid/v1/jwks of this server.",
    set: (text, { server }) => {
      server.serviceAccountJwksUri = text;
    },
  },
  {
    term: "--service-account-key-file <file>",
    help: "PEM file with RSA or ECDSA keys, public or private, whose service account tokens are accepted; may be repeated. The key that signs needs not be among them. If unset, the key of --tls-private-key-file.",
    set: (text, { server }) => {
      server.serviceAccountKeyFiles = [...server.serviceAccountKeyFiles, text];
    },
  },
  {
    term: "--service-account-signing-key-file <file>",
    help: "PEM file with the private key that signs service account tokens. If unset, one is created under --data-dir.",
    set: (text, { server }) => {
      server.serviceAccountSigningKeyFile = unlessEmpty(text);
    },
  },
  {
    term: "--service-account-lookup [bool]",
    help: "Whether the tokens of secrets are accepted only as long as the secret and the account are there.",
    shown: "true",
    set: (text, { server }) => {
      server.serviceAccountLookup = boolValue(text);
    },
  },
  {
    term: "--service-account-max-token-expiration <duration>",
    help: "The longest life of a service account token, between 1h and 2^32 seconds; tokens asked for with a longer one get this. 0 is no limit.",
    shown: "0s",
    set: (text, { server }) => {
      server.serviceAccountMaxTokenExpirationMs = durationMs(text);
    },
  },
  {
    term: "--legacy-service-account-token-clean-up-period <duration>",
    help: "How long the token of a secret that was made for an account may be unused before it is marked as invalid, and marked before it is deleted.",
    shown: "8760h0m0s",
    set: (text, { server }) => {
      const ms = durationMs(text);
      if (ms <= 0) throw new FlagValueError("must be more than 0");
      server.legacyTokenCleanUpMs = ms;
    },
  },
  {
    term: "--service-account-extend-token-expiration [bool]",
    help: "Whether the tokens that pods get for about an hour are good for a year, for clients that do not read them again.",
    shown: "true",
    set: (text, { server }) => {
      server.serviceAccountExtendTokenExpiration = boolValue(text);
    },
  },
];

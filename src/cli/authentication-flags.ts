/** Authentication flags. Names and defaults are kube-apiserver's. */
import { defaultOptions } from "../server/default-options.ts";
import { boolValue, durationMs, FlagValueError, stringSlice, unlessEmpty } from "./flag-values.ts";
import type { Flag } from "./flags.ts";
import { oidcFlags } from "./oidc-flags.ts";
import { requestHeaderFlags } from "./request-header-flags.ts";

export const authenticationFlags: readonly Flag[] = [
  {
    term: "--anonymous-auth [bool]",
    help: "Accepts requests without credentials as the user system:anonymous of the group system:unauthenticated. If unset, true, unless --authentication-config sets it.",
    unset: "true",
    set: (text, { server }) => {
      server.anonymousAuth = boolValue(text);
    },
  },
  {
    term: "--authentication-config <file>",
    help: "File with an AuthenticationConfiguration: token issuers, and the paths of anonymous requests. The file is reloaded when it changes. Excludes --oidc-*, and --anonymous-auth if the file configures anonymous requests.",
    set: (text, { server }) => {
      server.authenticationConfigFile = unlessEmpty(text);
    },
  },
  {
    term: "--egress-selector-config-file <file>",
    help: "File with an EgressSelectorConfiguration: the proxies for connections to issuers whose configuration has an egress type.",
    set: (text, { server }) => {
      server.egressSelectorConfigFile = unlessEmpty(text);
    },
  },
  ...oidcFlags,
  {
    term: "--client-ca-file <file>",
    help: "PEM file with certificate authorities; a client certificate from one of them authenticates its common name as the user, and its organizations as groups.",
    set: (text, { server }) => {
      server.clientCaFile = unlessEmpty(text);
    },
  },
  ...requestHeaderFlags,
  {
    term: "--enable-bootstrap-token-auth [bool]",
    help: "Accepts the tokens in Secrets of type bootstrap.kubernetes.io/token in the namespace kube-system, with which nodes join.",
    shown: "false",
    set: (text, { server }) => {
      server.bootstrapTokenAuth = boolValue(text);
    },
  },
  {
    term: "--token-auth-file <file>",
    help: "CSV file with bearer tokens: token, user name, user UID and, in one quoted comma-separated column, groups. Read only at the start.",
    set: (text, { server }) => {
      server.tokenAuthFile = unlessEmpty(text);
    },
  },
  {
    term: "--authentication-token-webhook-config-file <file>",
    help: "File in kubeconfig format with the URL and credentials of the webhook that receives a TokenReview for bearer tokens that no other authenticator accepts.",
    set: (text, { server }) => {
      server.tokenWebhook = { ...server.tokenWebhook, configFile: unlessEmpty(text) };
    },
  },
  {
    term: "--authentication-token-webhook-version <version>",
    help: "Version of the TokenReview that the webhook receives and returns: v1 or v1beta1.",
    shown: "v1beta1",
    set: (text, { server }) => {
      server.tokenWebhook = { ...server.tokenWebhook, version: text };
    },
  },
  {
    term: "--authentication-token-webhook-cache-ttl <duration>",
    help: "How long the answers of the webhook are cached.",
    shown: "2m0s",
    set: (text, { server }) => {
      server.tokenWebhook = { ...server.tokenWebhook, cacheMs: durationMs(text) };
    },
  },
  {
    term: "--api-audiences <names>",
    help: "Comma-separated list of audiences of this server in service account tokens. If unset, the values of --service-account-issuer.",
    set: (text, { server }) => {
      server.apiAudiences = [...server.apiAudiences, ...stringSlice(text)];
    },
  },
  {
    term: "--service-account-issuer <issuer>",
    help: "Issuer of service account tokens, preferably an https URL. May be repeated: new tokens have the first one, tokens of all are accepted.",
    shown: "https://kubernetes.default.svc.cluster.local",
    set: (text, { server }) => {
      const before =
        server.serviceAccountIssuers === defaultOptions.serviceAccountIssuers ? [] : server.serviceAccountIssuers;
      server.serviceAccountIssuers = [...before, text];
    },
  },
  {
    term: "--service-account-jwks-uri <url>",
    help: "https URL of the keys that verify service account tokens, for the discovery document. If unset, /openid/v1/jwks on this server.",
    set: (text, { server }) => {
      server.serviceAccountJwksUri = text;
    },
  },
  {
    term: "--service-account-key-file <file>",
    help: "PEM file with public or private RSA or ECDSA keys that verify service account tokens; may be repeated. The signing key is always accepted. If unset, the key of --tls-private-key-file.",
    set: (text, { server }) => {
      server.serviceAccountKeyFiles = [...server.serviceAccountKeyFiles, text];
    },
  },
  {
    term: "--service-account-signing-key-file <file>",
    help: "PEM file with the private key that signs service account tokens. If unset, a key is created in --data-dir.",
    set: (text, { server }) => {
      server.serviceAccountSigningKeyFile = unlessEmpty(text);
    },
  },
  {
    term: "--service-account-lookup [bool]",
    help: "Accepts tokens in Secrets only while the Secret and the service account exist.",
    shown: "true",
    set: (text, { server }) => {
      server.serviceAccountLookup = boolValue(text);
    },
  },
  {
    term: "--service-account-max-token-expiration <duration>",
    help: "Maximum lifetime of a service account token, between 1h and 2^32 seconds; longer requested lifetimes are reduced to it. 0 is no limit.",
    shown: "0s",
    set: (text, { server }) => {
      server.serviceAccountMaxTokenExpirationMs = durationMs(text);
    },
  },
  {
    term: "--legacy-service-account-token-clean-up-period <duration>",
    help: "How long an automatically created token Secret can be unused before it is marked as invalid, and how long after that it is deleted.",
    shown: "8760h0m0s",
    set: (text, { server }) => {
      const ms = durationMs(text);
      if (ms <= 0) throw new FlagValueError("must be more than 0");
      server.legacyTokenCleanUpMs = ms;
    },
  },
  {
    term: "--service-account-extend-token-expiration [bool]",
    help: "Extends the lifetime of the tokens of pods from about an hour to a year, for clients that do not reload them.",
    shown: "true",
    set: (text, { server }) => {
      server.serviceAccountExtendTokenExpiration = boolValue(text);
    },
  },
];

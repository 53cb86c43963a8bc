/** Flags of authentication and of service account tokens. Names and defaults are kube-apiserver's. */
import { type Flag, type FlagType, FlagValueError } from "./contract.ts";
import { bool, checked, duration, durationType, file, list, text, texts } from "./flag-types.ts";

/** `claim=value`; spaces around both are removed. */
const requiredClaims: FlagType<Readonly<Record<string, string>>> = {
  value: "claim=value",
  read(text, before) {
    const at = text.indexOf("=");
    if (at < 0) throw new FlagValueError("malformed pair, expect string=string");
    return { ...before, [text.slice(0, at).trim()]: text.slice(at + 1).trim() };
  },
};

const positiveDuration = checked(duration, (ms) => {
  if (ms <= 0) throw new FlagValueError("must be more than 0");
});

export const authenticationFlags: readonly Flag[] = [
  {
    name: "anonymous-auth",
    option: "anonymousAuth",
    type: bool,
    default: undefined,
    help: "Accepts requests without credentials as the user system:anonymous of the group system:unauthenticated. If unset, true, unless --authentication-config sets it.",
    unset: "true",
  },
  {
    name: "authentication-config",
    option: "authenticationConfigFile",
    type: file,
    default: undefined,
    help: "File with an AuthenticationConfiguration: token issuers, and the paths of anonymous requests. The file is reloaded when it changes. Excludes --oidc-*, and --anonymous-auth if the file configures anonymous requests.",
  },
  {
    name: "egress-selector-config-file",
    option: "egressSelectorConfigFile",
    type: file,
    default: undefined,
    help: "File with an EgressSelectorConfiguration: the proxies for connections to issuers whose configuration has an egress type.",
  },
  {
    name: "oidc-issuer-url",
    option: "oidc.issuerUrl",
    type: text("url"),
    help: "https URL of the OpenID Connect issuer whose ID tokens are accepted.",
  },
  {
    name: "oidc-client-id",
    option: "oidc.clientId",
    type: text("id"),
    help: "Required audience of the ID tokens; must be set together with --oidc-issuer-url.",
  },
  {
    name: "oidc-ca-file",
    option: "oidc.caFile",
    type: text("file"),
    help: "PEM file with the certificate authorities of the issuer. If unset, those of the host.",
  },
  {
    name: "oidc-username-claim",
    option: "oidc.usernameClaim",
    type: text("claim"),
    help: "The claim with the user's name. If unset, sub.",
    unset: "sub",
  },
  {
    name: "oidc-username-prefix",
    option: "oidc.usernamePrefix",
    type: text("prefix"),
    help: "Prefix of user names; - is none. If unset, the issuer URL and #, except if the username claim is email.",
  },
  {
    name: "oidc-groups-claim",
    option: "oidc.groupsClaim",
    type: text("claim"),
    help: "The claim with the user's groups: a string or a list of strings.",
  },
  {
    name: "oidc-groups-prefix",
    option: "oidc.groupsPrefix",
    type: text("prefix"),
    help: "Prefix of groups.",
  },
  {
    name: "oidc-required-claim",
    option: "oidc.requiredClaims",
    type: requiredClaims,
    help: "A claim and value that ID tokens must have; may be repeated.",
  },
  {
    name: "oidc-signing-algs",
    option: "oidc.signingAlgs",
    type: list("algorithms"),
    help: "Comma-separated list of accepted signing algorithms: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512. If unset, RS256.",
    unset: "RS256",
  },
  {
    name: "client-ca-file",
    option: "clientCaFile",
    type: file,
    default: undefined,
    help: "PEM file with certificate authorities; a client certificate from one of them authenticates its common name as the user, and its organizations as groups.",
    inCode: "PEM file with the authorities of client certificates. The server's own authority is always accepted.",
  },
  {
    name: "requestheader-client-ca-file",
    option: "requestHeader.clientCaFile",
    type: file,
    help: "PEM file with the certificate authorities of authenticating proxies; the headers of a client with a certificate from one of them name the user. The file is reloaded when it changes.",
  },
  {
    name: "requestheader-allowed-names",
    option: "requestHeader.allowedNames",
    type: list("names"),
    help: "Comma-separated list of allowed common names of proxy certificates. If unset, any.",
  },
  {
    name: "requestheader-username-headers",
    option: "requestHeader.usernameHeaders",
    type: list("names"),
    help: "Comma-separated list of headers with the user name; the first with a value is used. X-Remote-User is common.",
  },
  {
    name: "requestheader-uid-headers",
    option: "requestHeader.uidHeaders",
    type: list("names"),
    help: "Comma-separated list of headers with the user's UID; the first with a value is used. The list must include X-Remote-Uid.",
  },
  {
    name: "requestheader-group-headers",
    option: "requestHeader.groupHeaders",
    type: list("names"),
    help: "Comma-separated list of headers with the user's groups. X-Remote-Group is suggested.",
  },
  {
    name: "requestheader-extra-headers-prefix",
    option: "requestHeader.extraHeaderPrefixes",
    type: list("prefixes"),
    help: "Comma-separated list of prefixes of headers with extra attributes of the user. X-Remote-Extra- is suggested.",
  },
  {
    name: "enable-bootstrap-token-auth",
    option: "bootstrapTokenAuth",
    type: bool,
    default: false,
    help: "Accepts the tokens in Secrets of type bootstrap.kubernetes.io/token in the namespace kube-system, with which nodes join.",
  },
  {
    name: "token-auth-file",
    option: "tokenAuthFile",
    type: file,
    default: undefined,
    help: "CSV file with bearer tokens: token, user name, user UID and, in one quoted comma-separated column, groups. Read only at the start.",
    inCode: "CSV file of token, user name, user uid and groups.",
  },
  {
    name: "authentication-token-webhook-config-file",
    option: "tokenWebhook.configFile",
    type: file,
    help: "File in kubeconfig format with the URL and credentials of the webhook that receives a TokenReview for bearer tokens that no other authenticator accepts.",
  },
  {
    name: "authentication-token-webhook-version",
    option: "tokenWebhook.version",
    type: text("version"),
    help: "Version of the TokenReview that the webhook receives and returns: v1 or v1beta1.",
  },
  {
    name: "authentication-token-webhook-cache-ttl",
    option: "tokenWebhook.cacheMs",
    type: duration,
    help: "How long the answers of the webhook are cached.",
  },
  {
    name: "api-audiences",
    option: "apiAudiences",
    type: list("names"),
    default: [],
    help: "Comma-separated list of audiences of this server in service account tokens. If unset, the values of --service-account-issuer.",
    inCode:
      "Audiences of this server: tokens must have one, and issued tokens have all by default. Empty: the issuers.",
  },
  {
    name: "service-account-issuer",
    option: "serviceAccountIssuers",
    type: texts("issuer"),
    default: ["https://kubernetes.default.svc.cluster.local"],
    help: "Issuer of service account tokens, preferably an https URL. May be repeated: new tokens have the first one, tokens of all are accepted.",
    inCode: "The server issues tokens with the first and accepts tokens of all. At least one.",
    upstream: "",
  },
  {
    name: "service-account-jwks-uri",
    option: "serviceAccountJwksUri",
    type: text("url"),
    help: "https URL of the keys that verify service account tokens, for the discovery document. If unset, /openid/v1/jwks on this server.",
  },
  {
    name: "service-account-key-file",
    option: "serviceAccountKeyFiles",
    type: texts("file"),
    default: [],
    help: "PEM file with public or private RSA or ECDSA keys that verify service account tokens; may be repeated. The signing key is always accepted. If unset, the key of --tls-private-key-file.",
    inCode: "PEM files with further keys whose tokens are accepted.",
  },
  {
    name: "service-account-signing-key-file",
    option: "serviceAccountSigningKeyFile",
    type: file,
    default: undefined,
    help: "PEM file with the private key that signs service account tokens. If unset, a key is created in --data-dir.",
  },
  {
    name: "service-account-signing-endpoint",
    option: "serviceAccountSigningEndpoint",
    type: text("socket"),
    default: undefined,
    help: "Unix socket of an external signer (ExternalJWTSigner), which signs service account tokens and has the keys that verify them: a path, or @ and an abstract name. Not with --service-account-signing-key-file or --service-account-key-file.",
  },
  {
    name: "service-account-lookup",
    option: "serviceAccountLookup",
    type: bool,
    default: true,
    help: "Accepts tokens in Secrets only while the Secret and the service account exist.",
  },
  {
    name: "service-account-max-token-expiration",
    option: "serviceAccountMaxTokenExpirationMs",
    type: durationType("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"),
    default: 0,
    help: "Maximum lifetime of a service account token, between 1h and 2^32 seconds; longer requested lifetimes are reduced to it. 0 is no limit.",
  },
  {
    name: "legacy-service-account-token-clean-up-period",
    option: "legacyTokenCleanUpMs",
    type: positiveDuration,
    default: 365 * 86_400_000,
    help: "How long an automatically created token Secret can be unused before it is marked as invalid, and how long after that it is deleted.",
    upstream: null,
  },
  {
    name: "service-account-extend-token-expiration",
    option: "serviceAccountExtendTokenExpiration",
    type: bool,
    default: true,
    help: "Extends the lifetime of the tokens of pods from about an hour to a year, for clients that do not reload them.",
  },
];

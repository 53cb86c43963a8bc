/**
 * Decodes the AuthenticationConfiguration of `--authentication-config`.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/v1/types.go.
 */
import {
  type Configuration,
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
} from "../../apimachinery/configuration-file.ts";
import { bool, configKind, configStruct, listOf, text } from "../../apimachinery/configuration-schema.ts";

/**
 * The kind AuthenticationConfiguration. Missing fields are empty, except where an empty value has
 * another meaning.
 */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[];
  readonly anonymous?: AnonymousConfiguration;
}

/** The settings of anonymous requests. */
export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** The paths that allow anonymous requests. Empty allows all paths. */
  readonly conditions: readonly { readonly path: string }[];
}

/** One JWT authenticator. */
export interface JwtAuthenticator {
  readonly issuer: Issuer;
  readonly claimValidationRules: readonly ClaimValidationRule[];
  readonly claimMappings: ClaimMappings;
  readonly userValidationRules: readonly UserValidationRule[];
}

/** The issuer of tokens. */
export interface Issuer {
  readonly url: string;
  readonly discoveryUrl: string;
  /** A PEM bundle. */
  readonly certificateAuthority: string;
  readonly audiences: readonly string[];
  readonly audienceMatchPolicy: string;
  readonly egressSelectorType: string;
}

/** A rule about claims: a required value or a CEL expression. */
export interface ClaimValidationRule {
  readonly claim: string;
  readonly requiredValue: string;
  readonly expression: string;
  readonly message: string;
}

/** The mappings from claims to a user. */
export interface ClaimMappings {
  readonly username: PrefixedClaimOrExpression;
  readonly groups: PrefixedClaimOrExpression;
  readonly uid: ClaimOrExpression;
  readonly extra: readonly ExtraMapping[];
}

/** The name of a claim or a CEL expression. */
export interface ClaimOrExpression {
  readonly claim: string;
  readonly expression: string;
}

/** A claim with prefix, or a CEL expression. */
export interface PrefixedClaimOrExpression extends ClaimOrExpression {
  /** Undefined is invalid with a claim; an empty string is valid. */
  readonly prefix?: string;
}

/** The mapping of one key of `extra`. */
export interface ExtraMapping {
  readonly key: string;
  readonly valueExpression: string;
}

/** A CEL rule about the resulting user. */
export interface UserValidationRule {
  readonly expression: string;
  readonly message: string;
}

/** The location in upstream's error messages where the kinds of this file are registered. */
const scheme = "pkg/kubeapiserver/options/authentication.go:879";

/**
 * Decodes a configuration without validation.
 *
 * @throws ConfigurationError with upstream's message
 */
export function readAuthenticationConfiguration(bytes: Buffer): AuthenticationConfiguration {
  if (bytes.length === 0) throw new ConfigurationError("empty config data");
  return configurationOf(decodeConfiguration(bytes, kinds, scheme));
}

const kinds: readonly ConfigurationKind[] = ["v1", "v1beta1", "v1alpha1"].map((version) => ({
  apiVersion: `apiserver.config.k8s.io/${version}`,
  kind: "AuthenticationConfiguration",
  schema: schemaOf(version),
}));

/** The versions have the same fields. */
function schemaOf(version: string): ConfigurationKind["schema"] {
  const struct = (name: string, fields: Parameters<typeof configStruct>[1]): ReturnType<typeof configStruct> =>
    configStruct(`${version}.${name}`, fields);
  const named = (name: string): { type: typeof text; goTypes: readonly string[] } => ({
    type: text,
    goTypes: [`${version}.${name}`],
  });
  const optionalText = { type: text, pointer: true };
  const claimOrExpression = { claim: text, expression: text };
  const issuer = struct("Issuer", {
    url: text,
    discoveryURL: optionalText,
    certificateAuthority: text,
    audiences: listOf(text),
    audienceMatchPolicy: named("AudienceMatchPolicyType"),
    egressSelectorType: named("EgressSelectorType"),
  });
  const prefixed = struct("PrefixedClaimOrExpression", { ...claimOrExpression, prefix: optionalText });
  const mappings = struct("ClaimMappings", {
    username: prefixed,
    groups: prefixed,
    uid: struct("ClaimOrExpression", claimOrExpression),
    extra: listOf(struct("ExtraMapping", { key: text, valueExpression: text })),
  });
  const authenticator = struct("JWTAuthenticator", {
    issuer,
    claimValidationRules: listOf(
      struct("ClaimValidationRule", { ...claimOrExpression, requiredValue: text, message: text }),
    ),
    claimMappings: mappings,
    userValidationRules: listOf(struct("UserValidationRule", { expression: text, message: text })),
  });
  const anonymous = struct("AnonymousAuthConfig", {
    enabled: bool,
    conditions: listOf(struct("AnonymousAuthCondition", { path: text })),
  });
  return configKind(`${version}.AuthenticationConfiguration`, {
    jwt: listOf(authenticator),
    anonymous: { type: anonymous, pointer: true },
  });
}

/** A decoded value before defaults: each field can be missing. */
type Decoded<T> = T extends readonly (infer Item)[]
  ? readonly Decoded<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Decoded<T[Key]> }
    : T;
interface DecodedConfiguration {
  readonly jwt?: readonly (Decoded<Omit<JwtAuthenticator, "issuer">> & { readonly issuer?: DecodedIssuer })[];
  readonly anonymous?: Decoded<AnonymousConfiguration>;
}
type DecodedIssuer = Decoded<Omit<Issuer, "discoveryUrl">> & { readonly discoveryURL?: string };

function configurationOf({ object }: Configuration): AuthenticationConfiguration {
  const { jwt = [], anonymous }: DecodedConfiguration = object;
  return { jwt: jwt.map(authenticatorOf), ...(anonymous && { anonymous: anonymousOf(anonymous) }) };
}

function anonymousOf({ enabled = false, conditions = [] }: Decoded<AnonymousConfiguration>): AnonymousConfiguration {
  return { enabled, conditions: conditions.map(({ path = "" }) => ({ path })) };
}

function authenticatorOf(decoded: NonNullable<DecodedConfiguration["jwt"]>[number]): JwtAuthenticator {
  const { issuer = {}, claimValidationRules = [], claimMappings = {}, userValidationRules = [] } = decoded;
  return {
    issuer: issuerOf(issuer),
    claimValidationRules: claimValidationRules.map((rule) => ({
      claim: "",
      requiredValue: "",
      expression: "",
      message: "",
      ...rule,
    })),
    claimMappings: mappingsOf(claimMappings),
    userValidationRules: userValidationRules.map((rule) => ({ expression: "", message: "", ...rule })),
  };
}

function issuerOf({ discoveryURL: discoveryUrl = "", ...rest }: DecodedIssuer): Issuer {
  return {
    url: "",
    certificateAuthority: "",
    audiences: [],
    audienceMatchPolicy: "",
    egressSelectorType: "",
    ...rest,
    discoveryUrl,
  };
}

function mappingsOf({ username, groups, uid, extra = [] }: Decoded<ClaimMappings>): ClaimMappings {
  const none = { claim: "", expression: "" };
  return {
    username: { ...none, ...username },
    groups: { ...none, ...groups },
    uid: { ...none, ...uid },
    extra: extra.map((one) => ({ key: "", valueExpression: "", ...one })),
  };
}

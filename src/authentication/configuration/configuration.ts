/** AuthenticationConfiguration: its fields, and the file of `--authentication-config`. Source: access-control §5.2; apiserver's pkg/apis/apiserver. */
import {
  type Configuration,
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
} from "../../apimachinery/configuration-file.ts";
import { bool, configKind, configStruct, listOf, text } from "../../apimachinery/configuration-schema.ts";

/** What is left out is empty, but for what differs from that. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[];
  readonly anonymous?: AnonymousConfiguration;
}

export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** Paths at which nobody in particular may ask. None: all. */
  readonly conditions: readonly { readonly path: string }[];
}

export interface JwtAuthenticator {
  readonly issuer: Issuer;
  readonly claimValidationRules: readonly ClaimValidationRule[];
  readonly claimMappings: ClaimMappings;
  readonly userValidationRules: readonly UserValidationRule[];
}

export interface Issuer {
  readonly url: string;
  readonly discoveryUrl: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly audiences: readonly string[];
  readonly audienceMatchPolicy: string;
  readonly egressSelectorType: string;
}

export interface ClaimValidationRule {
  readonly claim: string;
  readonly requiredValue: string;
  readonly expression: string;
  readonly message: string;
}

export interface ClaimMappings {
  readonly username: PrefixedClaimOrExpression;
  readonly groups: PrefixedClaimOrExpression;
  readonly uid: ClaimOrExpression;
  readonly extra: readonly ExtraMapping[];
}

export interface ClaimOrExpression {
  readonly claim: string;
  readonly expression: string;
}

export interface PrefixedClaimOrExpression extends ClaimOrExpression {
  /** None is not the same as an empty one. */
  readonly prefix?: string;
}

export interface ExtraMapping {
  readonly key: string;
  readonly valueExpression: string;
}

export interface UserValidationRule {
  readonly expression: string;
  readonly message: string;
}

/** What upstream calls the place where the kinds of this file are registered. */
const scheme = "pkg/kubeapiserver/options/authentication.go:879";

/** @throws ConfigurationError with upstream's text */
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

/** As the schema lets it through: fields may be missing, and no others are there. */
type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Written<T[Key]> }
    : T;
interface WrittenConfiguration {
  readonly jwt?: readonly (Written<Omit<JwtAuthenticator, "issuer">> & { readonly issuer?: WrittenIssuer })[];
  readonly anonymous?: Written<AnonymousConfiguration>;
}
type WrittenIssuer = Written<Omit<Issuer, "discoveryUrl">> & { readonly discoveryURL?: string };

function configurationOf({ object }: Configuration): AuthenticationConfiguration {
  const { jwt = [], anonymous }: WrittenConfiguration = object;
  return { jwt: jwt.map(authenticatorOf), ...(anonymous && { anonymous: anonymousOf(anonymous) }) };
}

function anonymousOf({ enabled = false, conditions = [] }: Written<AnonymousConfiguration>): AnonymousConfiguration {
  return { enabled, conditions: conditions.map(({ path = "" }) => ({ path })) };
}

function authenticatorOf(written: NonNullable<WrittenConfiguration["jwt"]>[number]): JwtAuthenticator {
  const { issuer = {}, claimValidationRules = [], claimMappings = {}, userValidationRules = [] } = written;
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

function issuerOf({ discoveryURL: discoveryUrl = "", ...rest }: WrittenIssuer): Issuer {
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

function mappingsOf({ username, groups, uid, extra = [] }: Written<ClaimMappings>): ClaimMappings {
  const none = { claim: "", expression: "" };
  return {
    username: { ...none, ...username },
    groups: { ...none, ...groups },
    uid: { ...none, ...uid },
    extra: extra.map((one) => ({ key: "", valueExpression: "", ...one })),
  };
}

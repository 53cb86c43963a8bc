/**
 * Decodes the EncryptionConfiguration of `--encryption-provider-config`.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/v1/types_encryption.go.
 */
import {
  aggregated,
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
  UnknownKindError,
} from "../../apimachinery/configuration-file.ts";
import { configKind, configStruct, duration, int32, listOf, text } from "../../apimachinery/configuration-schema.ts";
import { parseDuration } from "../../lib/duration/duration.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { EncryptionConfiguration, KmsConfiguration, ProviderConfiguration } from "./configuration-types.ts";
import { validateConfiguration } from "./validate-configuration.ts";

const key = configStruct("v1.Key", { name: text, secret: text });
const aes = { type: configStruct("v1.AESConfiguration", { keys: listOf(key) }), pointer: true };
const provider = configStruct("v1.ProviderConfiguration", {
  aesgcm: aes,
  aescbc: aes,
  secretbox: { type: configStruct("v1.SecretboxConfiguration", { keys: listOf(key) }), pointer: true },
  identity: { type: configStruct("v1.IdentityConfiguration", {}), pointer: true },
  kms: {
    type: configStruct("v1.KMSConfiguration", {
      apiVersion: text,
      name: text,
      cachesize: { type: int32, pointer: true },
      endpoint: text,
      timeout: { type: duration, pointer: true },
    }),
    pointer: true,
  },
});
const resource = configStruct("v1.ResourceConfiguration", { resources: listOf(text), providers: listOf(provider) });
const kinds: readonly ConfigurationKind[] = [
  {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    schema: configKind("v1.EncryptionConfiguration", { resources: listOf(resource) }),
  },
];
/** The location in upstream's error messages where the kind is registered. */
const scheme = "pkg/server/options/encryptionconfig/config.go:154";

/**
 * Decodes and validates a configuration.
 *
 * @param reloads whether the file is read again when it changes, which demands unique names of services
 * @throws ConfigurationError with upstream's message, which does not contain keys
 */
export function readEncryptionConfiguration(
  bytes: Buffer,
  { file, reloads }: { readonly file: string; readonly reloads: boolean },
): EncryptionConfiguration {
  if (bytes.length === 0)
    throw new ConfigurationError(
      `error while parsing file: error while loading file: encryption provider configuration file ${quoteGo(file)} is empty`,
    );
  const configuration = decode(bytes, file);
  const problems = aggregated(validateConfiguration(configuration, reloads));
  if (problems !== undefined) throw new ConfigurationError(`error while parsing file: ${problems}`);
  return configuration;
}

/** The object as it is decoded. */
interface Sent {
  readonly resources?: readonly {
    readonly resources?: readonly string[];
    readonly providers?: readonly SentProvider[];
  }[];
}

interface SentProvider extends Omit<ProviderConfiguration, "kms"> {
  readonly kms?: Partial<Omit<KmsConfiguration, "timeoutMs">> & { readonly timeout?: string };
}

/** @throws ConfigurationError */
function decode(bytes: Buffer, file: string): EncryptionConfiguration {
  let sent: Sent;
  try {
    sent = decodeConfiguration(bytes, kinds, scheme).object as Sent;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // Upstream's text contains the file, which has keys.
    const reason = error instanceof UnknownKindError ? (error.message.split(" in '", 1)[0] as string) : error.message;
    throw new ConfigurationError(
      `error while parsing file: error decoding encryption provider configuration file ${quoteGo(file)}: ${reason}`,
    );
  }
  return {
    resources: (sent.resources ?? []).map(({ resources = [], providers = [] }) => ({
      resources,
      providers: providers.map(providerOf),
    })),
  };
}

const cacheSizeDefault = 1000;
const timeoutMsDefault = 3000;

function providerOf({ kms, ...others }: SentProvider): ProviderConfiguration {
  if (kms === undefined) return others;
  const { apiVersion = "", name = "", endpoint = "", timeout, cachesize } = kms;
  const version = apiVersion === "" ? "v1" : apiVersion;
  const size = cachesize ?? (version === "v1" ? cacheSizeDefault : undefined);
  return {
    ...others,
    kms: {
      apiVersion: version,
      name,
      endpoint,
      timeoutMs: timeout === undefined ? timeoutMsDefault : Number(parseDuration(timeout)) / 1e6,
      ...(size !== undefined && { cachesize: size }),
    },
  };
}

/**
 * Makes the ciphers of an EncryptionConfiguration.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/encryptionconfig/config.go.
 */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { ConfigurationError } from "../../apimachinery/configuration-file.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { joinErrors, quoteGo } from "../../lib/json/quote.ts";
import { cbcCipher, gcmCipher } from "./aes.ts";
import type {
  EncryptionConfiguration,
  KeysConfiguration,
  KmsConfiguration,
  ProviderConfiguration,
} from "./configuration-types.ts";
import type { Encryption, EncryptionObserver, KeyEncryption, ValueCipher } from "./contract.ts";
import { kmsClient } from "./kms/client.ts";
import { firstKmsClient } from "./kms/first-client.ts";
import { FirstKmsProvider } from "./kms/first-version.ts";
import { keysMinimum } from "./kms/key-cache.ts";
import { KmsProvider } from "./kms/provider.ts";
import { identity, type PrefixedCipher, prefixedCiphers } from "./prefixed-ciphers.ts";
import { formatNamed, parseGroupResource } from "./resource-names.ts";
import { keyBytesOf } from "./validate-configuration.ts";

export interface EncryptionOptions {
  /** Whether services of version 1 can be used: the gate KMSv1. */
  readonly allowsFirstKms: boolean;
  /** Names the resource of a key, such as `deployments.apps`. */
  readonly resourceOf: (key: string) => string;
  /** Returns the key as it is in the store, to which values are bound. */
  readonly pathOf: (key: string) => string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: EncryptionObserver;
}

/** A key management service. */
export interface KeyService {
  readonly apiVersion: string;
  /** @returns the problem, with upstream's text */
  check(): Promise<string | undefined>;
}

/** The ciphers of a configuration. */
export interface OpenedEncryption extends Encryption {
  /** The services, in the order of the file. */
  readonly services: readonly KeyService[];
  /** How long calls of the services can still take. */
  readonly closeAfterMs: number;
  close(): void;
}

/** @throws ConfigurationError with upstream's message */
export async function openEncryption(
  { resources }: EncryptionConfiguration,
  options: EncryptionOptions,
): Promise<OpenedEncryption> {
  const services: (KeyService & { close(): void })[] = [];
  const close = (): void => {
    for (const service of services) service.close();
  };
  let timeoutsMs = 0;
  const ciphersOf = async ({ kms, ...provider }: ProviderConfiguration): Promise<PrefixedCipher> => {
    if (kms === undefined) return localCipher(provider, options.observer);
    const { apiVersion, name, timeoutMs } = kms;
    const cipher = await openService(kms, options);
    services.push({ apiVersion, check: () => cipher.check(), close: () => cipher.close() });
    // A check of version 1 has two calls.
    timeoutsMs += apiVersion === "v1" ? 2 * timeoutMs : timeoutMs;
    return { prefix: `k8s:enc:kms:${apiVersion}:${name}:`, cipher };
  };
  try {
    const rules = new Map<string, PrefixedCipher[]>();
    for (const { resources: names, providers } of resources) {
      const ciphers: PrefixedCipher[] = [];
      for (const provider of providers) ciphers.push(await ciphersOf(provider));
      for (const name of names) rules.set(ruleOf(name, rules), [...(rules.get(ruleOf(name, rules)) ?? []), ...ciphers]);
    }
    const { observer } = options;
    const ciphers = new Map(
      Array.from(rules, ([name, some]) => [name, prefixedCiphers(some, "no matching prefix found", observer)] as const),
    );
    return { of: finder(ciphers, options), services, closeAfterMs: 2 * timeoutsMs, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** @returns the name by which a rule is found. @throws ConfigurationError when an earlier one contains it */
function ruleOf(name: string, rules: ReadonlyMap<string, unknown>): string {
  const named = parseGroupResource(name);
  const earlier = [{ group: named.group, resource: "*" }, anyResource].find((one) => rules.has(formatNamed(one)));
  if (earlier === undefined) return formatNamed(named);
  throw new ConfigurationError(
    `error while building transformers: resource ${quoteGo(formatNamed(named))} is masked by earlier rule ${quoteGo(formatNamed(earlier))}`,
  );
}

const anyResource = { group: "*", resource: "*" };

async function localCipher(provider: ProviderConfiguration, observer: EncryptionObserver): Promise<PrefixedCipher> {
  const { aesgcm, aescbc, secretbox } = provider;
  if (aesgcm !== undefined) return keyed("aesgcm", aesgcm, gcmCipher, observer);
  if (aescbc !== undefined) return keyed("aescbc", aescbc, cbcCipher, observer);
  if (secretbox === undefined) return identity;
  const { secretboxCipher } = await import("./secretbox.ts");
  return keyed("secretbox", secretbox, secretboxCipher, observer);
}

function keyed(
  provider: "aesgcm" | "aescbc" | "secretbox",
  { keys }: KeysConfiguration,
  cipherOf: (key: Buffer) => ValueCipher,
  observer: EncryptionObserver,
): PrefixedCipher {
  const ciphers = keys.map(({ name, secret }) => ({
    prefix: `${name}:`,
    cipher: cipherOf(keyBytesOf(secret) as Buffer),
  }));
  const family = provider === "secretbox" ? "Secretbox" : "AES";
  const unknown = `no matching key was found for the provided ${family} transformer`;
  return { prefix: `k8s:enc:${provider}:v1:`, cipher: prefixedCiphers(ciphers, unknown, observer) };
}

/** @throws ConfigurationError for version 1 while its gate is disabled */
async function openService(
  kms: KmsConfiguration,
  { clock, logger, observer, allowsFirstKms }: EncryptionOptions,
): Promise<FirstKmsProvider | KmsProvider> {
  const { apiVersion, name, cachesize: cacheSize = keysMinimum } = kms;
  const shared = { name, clock: realClock(clock), observer };
  if (apiVersion === "v1") {
    if (!allowsFirstKms) throw new ConfigurationError(`error while building transformers: ${deprecated}${enabling}`);
    logger.info(deprecated);
    return new FirstKmsProvider({ ...shared, client: firstKmsClient(kms), cacheSize });
  }
  const provider = new KmsProvider({ ...shared, client: kmsClient({ ...kms, observer }), logger });
  await provider.start();
  return provider;
}

/** Upstream's texts. */
const deprecated = "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.";
const enabling = "  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.";

/** Keys that are not those of resources, which upstream does not encrypt. */
const unencrypted = ["/registry/ranges/", "/registry/masterleases/", "/registry/peerserverleases/"];
/** Resources whose rule is remembered; more are only in the keys of clients that invent them. */
const remembered = 10_000;

function finder(
  ciphers: ReadonlyMap<string, ValueCipher>,
  { resourceOf, pathOf }: EncryptionOptions,
): Encryption["of"] {
  const found = new Map<string, ValueCipher | undefined>();
  const find = (name: string): ValueCipher | undefined => {
    const { group } = parseGroupResource(name);
    return ciphers.get(name) ?? ciphers.get(formatNamed({ group, resource: "*" })) ?? ciphers.get("*.*");
  };
  const encryptionOf: Encryption["of"] = (key) => {
    if (unencrypted.some((prefix) => key.startsWith(prefix))) return undefined;
    const resource = resourceOf(key);
    if (!found.has(resource)) {
      if (found.size >= remembered) found.clear();
      found.set(resource, find(resource));
    }
    const cipher = found.get(resource);
    return cipher && { cipher, context: { key: pathOf(key), resource } };
  };
  // A commit, and its event, ask for the same key several times.
  let [lastKey, last]: [key: string | undefined, encryption: KeyEncryption | undefined] = [undefined, undefined];
  return (key) => {
    if (key !== lastKey) [lastKey, last] = [key, encryptionOf(key)];
    return last;
  };
}

/** The check of all services together: each problem with the name of its check. */
export async function checkServices({ services }: Pick<OpenedEncryption, "services">): Promise<string | undefined> {
  const problems: string[] = [];
  for (const [index, service] of services.entries()) {
    const problem = await service.check();
    if (problem !== undefined) problems.push(`kms-provider-${index}: ${problem}`);
  }
  return problems.length === 0 ? undefined : joinErrors(problems);
}

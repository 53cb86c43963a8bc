/**
 * Validates an EncryptionConfiguration.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/validation/validation_encryption.go.
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { formatDuration } from "../../lib/duration/duration.ts";
import { GoUrlError, parseGoUrl } from "../../lib/go-net/go-url.ts";
import type {
  EncryptionConfiguration,
  KeysConfiguration,
  KmsConfiguration,
  ProviderConfiguration,
} from "./configuration-types.ts";
import { parseGroupResource } from "./resource-names.ts";

const aesKeyBytes = [16, 24, 32];
const secretboxKeyBytes = [32];

/** @param reloads whether names of services must be unique although they are of version 1 */
export function validateConfiguration({ resources }: EncryptionConfiguration, reloads: boolean): FieldErrors {
  const errors = new FieldErrors();
  if (resources.length === 0) errors.required("resources", "at least one resources is required");
  const names = new Set<string>();
  for (const [index, { resources: some, providers }] of resources.entries()) {
    const path = `resources[${index}]`;
    if (some.length === 0) errors.required(`${path}.resources`, `at least one ${path}.resources is required`);
    checkOverlap(some, `${path}.resources`, errors);
    for (const [at, name] of some.entries()) checkResource(name, `${path}.resources[${at}]`, errors);
    if (providers.length === 0) errors.required(`${path}.providers`, `at least one ${path}.providers is required`);
    for (const [at, provider] of providers.entries())
      checkProvider(provider, `${path}.providers[${at}]`, errors, { names, reloads });
  }
  return errors;
}

function checkOverlap(resources: readonly string[], path: string, errors: FieldErrors): void {
  const parsed = resources.map(parseGroupResource);
  const duplicate = new Set(parsed.map(({ group, resource }) => `${resource}.${group}`)).size < parsed.length;
  const masked = parsed.some((one, index) =>
    parsed.some((other, at) => {
      if (index === at || (one.group === other.group && one.resource === other.resource)) return false;
      if (one.group === "*" && one.resource === "*") return true;
      return one.group === other.group && (one.resource === "*" || other.resource === "*");
    }),
  );
  if (duplicate) errors.invalid(path, resources, "the same resource cannot be specified multiple times");
  if (masked)
    errors.invalid(
      path,
      resources,
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
    );
}

/** Resources that are stored but not served. */
const notServed = ["apiserveripinfo", "serviceipallocations", "servicenodeportallocations"];

function checkResource(name: string, path: string, errors: FieldErrors): void {
  const problem = resourceProblem(name);
  if (problem !== undefined) errors.invalid(path, name, problem);
}

function resourceProblem(name: string): string | undefined {
  if (name.toLowerCase() !== name) return "resource name should not contain capital letters";
  if (name === "*") return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (notServed.includes(name)) return "resources which do not have REST API/s cannot be encrypted";
  const { group, resource } = parseGroupResource(name);
  if (group === "events.k8s.io")
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === "extensions") return "'extensions' group has been removed and cannot be used for encryption";
  return group === "*" && resource !== "*" ? "encrypting the same resource across groups is not supported" : undefined;
}

const none = "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity";
const several = "more than one provider specified in a single element, should split into different list elements";

interface Seen {
  /** Of the services before this one. */
  readonly names: Set<string>;
  readonly reloads: boolean;
}

function checkProvider(provider: ProviderConfiguration, path: string, errors: FieldErrors, seen: Seen): void {
  const { aesgcm, aescbc, secretbox, kms } = provider;
  const count = Object.values(provider).filter((one) => one !== undefined).length;
  if (count !== 1) errors.invalid(path, shown(provider), count === 0 ? none : several);
  if (kms !== undefined) {
    checkService(kms, `${path}.kms`, errors, seen);
    seen.names.add(kms.name);
  } else if (aesgcm !== undefined) checkKeys(aesgcm, `${path}.aesgcm.keys`, aesKeyBytes, errors);
  else if (aescbc !== undefined) checkKeys(aescbc, `${path}.aescbc.keys`, aesKeyBytes, errors);
  else if (secretbox !== undefined) checkKeys(secretbox, `${path}.secretbox.keys`, secretboxKeyBytes, errors);
}

/** Go's form of a provider, except for the keys, which upstream displays. */
function shown({ aesgcm, aescbc, secretbox, identity, kms }: ProviderConfiguration): Record<string, unknown> {
  const keys = (one: KeysConfiguration | undefined) =>
    one === undefined ? null : { Keys: one.keys.map(({ name }) => ({ Name: name, Secret: "REDACTED" })) };
  return {
    AESGCM: keys(aesgcm),
    AESCBC: keys(aescbc),
    Secretbox: keys(secretbox),
    Identity: identity === undefined ? null : {},
    KMS: kms === undefined ? null : { Name: kms.name },
  };
}

function checkKeys({ keys = [] }: KeysConfiguration, path: string, sizes: number[], errors: FieldErrors): void {
  if (keys.length === 0) errors.required(path, "at least one keys is required");
  for (const [index, { name = "", secret = "" }] of keys.entries()) {
    const at = `${path}[${index}]`;
    if (name === "") errors.required(`${at}.name`, "name is a mandatory field for a key");
    if (secret === "") {
      errors.required(`${at}.secret`, "secret is a mandatory field for a key");
      continue;
    }
    const bytes = keyBytesOf(secret);
    if (bytes === undefined) errors.invalid(`${at}.secret`, "REDACTED", "secrets must be base64 encoded");
    else if (!sizes.includes(bytes.length))
      errors.invalid(
        `${at}.secret`,
        "REDACTED",
        `secret is not of the expected length, got ${bytes.length}, expected one of [${sizes.join(" ")}]`,
      );
  }
}

/** Go's decoder ignores line breaks, and accepts nothing else that Node ignores. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @returns undefined when the text is not base64 */
export function keyBytesOf(secret: string): Buffer | undefined {
  const text = secret.replace(/[\r\n]/g, "");
  return base64.test(text) ? Buffer.from(text, "base64") : undefined;
}

function checkService(kms: KmsConfiguration, path: string, errors: FieldErrors, { names, reloads }: Seen): void {
  const { apiVersion, name, timeoutMs, cachesize } = kms;
  if (name === "") errors.required(`${path}.name`, "name is a mandatory field for a provider");
  if (apiVersion !== "v1" && name.includes(":"))
    errors.invalid(`${path}.name`, name, `invalid KMS provider name ${name}, must not contain ':'`);
  if ((reloads || apiVersion !== "v1") && names.has(name))
    errors.invalid(`${path}.name`, name, `duplicate KMS provider name ${name}, names must be unique`);
  if (timeoutMs <= 0)
    errors.invalid(
      `${path}.timeout`,
      formatDuration(BigInt(Math.round(timeoutMs * 1e6))),
      "timeout should be a positive value",
    );
  checkEndpoint(kms, `${path}.endpoint`, errors);
  if (apiVersion !== "v1" && cachesize !== undefined)
    errors.invalid(`${path}.cachesize`, cachesize, "cachesize is not supported in v2");
  if (apiVersion === "v1" && cachesize === 0)
    errors.invalid(`${path}.cachesize`, 0, "cachesize should be a positive value, or negative to disable");
  if (apiVersion !== "v1" && apiVersion !== "v2")
    errors.invalid(
      `${path}.apiVersion`,
      apiVersion,
      "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported",
    );
}

function checkEndpoint({ endpoint }: KmsConfiguration, path: string, errors: FieldErrors): void {
  if (endpoint === "") return errors.invalid(path, "", "endpoint is a mandatory field for a kms");
  try {
    const { scheme } = parseGoUrl(endpoint);
    if (scheme !== "unix")
      errors.invalid(path, endpoint, `unsupported scheme "${scheme}" for KMS provider, only unix is supported`);
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    errors.invalid(path, endpoint, `invalid endpoint for kms provider, error: ${error.message}`);
  }
}

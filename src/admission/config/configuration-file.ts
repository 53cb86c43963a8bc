/**
 * Reads the file of `--admission-control-config-file`.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/config.go.
 */
import { dirname, resolve } from "node:path";
import {
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
  UnknownKindError,
} from "../../apimachinery/configuration-file.ts";
import { configKind, configStruct, listOf, text } from "../../apimachinery/configuration-schema.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { readGiven } from "../../lib/kubeconfig/kubeconfig.ts";
import { decodeYaml } from "../../lib/yaml/decode.ts";

/** The name of upstream's scheme in error messages. */
export const schemeName = "pkg/runtime/scheme.go:111";

/** Where the configuration of a plugin is. */
export interface PluginEntry {
  readonly plugin: string;
  /** An absolute path; empty if there is none. */
  readonly path: string;
  /** The configuration itself, which is used instead of the path. */
  readonly embedded: Buffer | undefined;
}

/**
 * Reads the entries of an AdmissionConfiguration, without the files that they refer to.
 *
 * @throws Error with upstream's message when the file cannot be read or is invalid
 */
export async function readAdmissionConfiguration(file: string): Promise<PluginEntry[]> {
  const bytes = await readFile(file);
  try {
    const { object } = decodeConfiguration(bytes, kinds, schemeName);
    const { plugins } = object as { readonly plugins?: readonly DecodedEntry[] };
    return (plugins ?? []).map((entry) => entryOf(entry, dirname(resolve(file))));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    if (error instanceof UnknownKindError && isOldConfiguration(bytes))
      return oldPlugins.map((plugin) => ({ plugin, path: resolve(file), embedded: undefined }));
    throw new Error(`failed to read plugin config: ${error.message}`);
  }
}

/**
 * Reads the configuration of one plugin.
 *
 * @returns undefined if the entry has none
 * @throws Error when the file cannot be read
 */
export async function readEntry({ path, embedded }: PluginEntry): Promise<Buffer | undefined> {
  if (embedded !== undefined) return embedded;
  if (path === "") return undefined;
  try {
    return await readGiven(path);
  } catch (error) {
    throw new Error(`Couldn't open admission plugin configuration ${path}: ${(error as Error).message}`);
  }
}

async function readFile(file: string): Promise<Buffer> {
  try {
    return await readGiven(file);
  } catch (error) {
    const problem = `unable to read admission control configuration from ${quoteGo(file)} [${(error as Error).message}]`;
    throw new Error(`failed to read plugin config: ${problem}`);
  }
}

const kinds: readonly ConfigurationKind[] = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"].map(
  (apiVersion) => ({
    apiVersion,
    kind: "AdmissionConfiguration",
    schema: schemaOf(apiVersion.split("/")[1] as string),
  }),
);

function schemaOf(version: string): ConfigurationKind["schema"] {
  const plugin = configStruct(`${version}.AdmissionPluginConfiguration`, {
    name: text,
    path: text,
    configuration: { type: { kind: "any", definition: "runtime.Unknown" }, pointer: true },
  });
  return configKind(`${version}.AdmissionConfiguration`, { plugins: listOf(plugin) });
}

interface DecodedEntry {
  readonly name?: string;
  readonly path?: string;
  readonly configuration?: unknown;
}

function entryOf({ name = "", path = "", configuration }: DecodedEntry, directory: string): PluginEntry {
  return {
    plugin: name,
    path: path === "" ? "" : resolve(directory, path),
    embedded: configuration == null ? undefined : Buffer.from(encodeSorted(configuration)),
  };
}

/** They had files of their own format before AdmissionConfiguration, which are still accepted. */
const oldPlugins = ["ImagePolicyWebhook", "PodNodeSelector"];

function isOldConfiguration(bytes: Buffer): boolean {
  const { value } = decodeYaml(bytes);
  return (
    typeof value === "object" && value !== null && ("imagePolicy" in value || "podNodeSelectorPluginConfig" in value)
  );
}

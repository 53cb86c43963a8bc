/** The configuration of the plugin PodNodeSelector, which has no kind. */
import { configStruct, text } from "../../../apimachinery/configuration-schema.ts";
import { decodePlainConfiguration } from "../../config/plain-configuration.ts";

/** Node selectors by namespace, and that of namespaces without an annotation. */
export interface NodeSelectorConfiguration {
  /** Selectors such as `a=b,c=d`, by namespace; `clusterDefaultNodeSelector` is the default. */
  readonly selectors: ReadonlyMap<string, string>;
}

const schema = configStruct("podnodeselector.pluginConfig", {
  podNodeSelectorPluginConfig: { kind: "map", values: text, atomic: false },
});

/**
 * The selectors themselves are checked for each pod, as upstream's.
 *
 * @throws ConfigurationError; upstream ignores what it cannot decode, and so the restriction
 */
export function parseNodeSelectors(bytes: Buffer): NodeSelectorConfiguration {
  if (bytes.length === 0) return { selectors: new Map() };
  const { podNodeSelectorPluginConfig } = decodePlainConfiguration(bytes, schema);
  return { selectors: new Map(Object.entries((podNodeSelectorPluginConfig ?? {}) as Record<string, string>)) };
}

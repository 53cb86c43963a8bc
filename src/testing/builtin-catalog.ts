/** The built-in resources as a catalogue without storage, for what only reads definitions. */
import { parseRuntimeConfig } from "../cli/runtime-config.ts";
import { builtinDefinitions, builtinVersions } from "../resource/builtin-definitions.ts";
import { openCatalog } from "../resource/catalog.ts";
import type { Conversion, MutableCatalog } from "../resource/contract.ts";

const untouched: Conversion = { toStorage: (object) => object, fromStorage: (object) => object };
/** Versions served by default whose fields are not those of what is stored. */
export const testConversions: Readonly<Record<string, Conversion>> = {
  "autoscaling/horizontalpodautoscalers/v1": untouched,
  "events.k8s.io/events/v1": untouched,
};

/** @param runtimeConfig as `--runtime-config` takes it */
export function builtinCatalog(runtimeConfig = ""): MutableCatalog {
  const served = parseRuntimeConfig(runtimeConfig, builtinVersions(testConversions));
  const definitions = builtinDefinitions({ strategies: {}, conversions: testConversions, served });
  return openCatalog(definitions, (definition) => ({ definition, store: undefined }));
}

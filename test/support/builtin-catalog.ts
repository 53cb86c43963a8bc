/** The built-in resources as a catalogue without storage, for what only reads definitions. */

import { builtinDefinitions, builtinVersions } from "../../src/catalog/builtin-definitions.ts";
import { openCatalog } from "../../src/catalog/catalog.ts";
import type { Conversion, MutableCatalog } from "../../src/catalog/contract.ts";
import { parseRuntimeConfig } from "../../src/catalog/runtime-config.ts";

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

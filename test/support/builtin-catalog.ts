/** A catalog of the built-in resources without storage, for tests that only read definitions. */

import { builtinConversions, strategiesWith } from "../../src/apis/index.ts";
import { builtinDefinitions, builtinVersions } from "../../src/catalog/builtin-definitions.ts";
import { openCatalog } from "../../src/catalog/catalog.ts";
import type { Conversion, MutableCatalog } from "../../src/catalog/contract.ts";
import { parseRuntimeConfig } from "../../src/catalog/runtime-config.ts";

const untouched: Conversion = { toStorage: (object) => object, fromStorage: (object) => object };
/** Conversions that change nothing. */
export const testConversions: Readonly<Record<string, Conversion>> = Object.fromEntries(
  Object.keys(builtinConversions).map((key) => [key, untouched]),
);

/** The catalog with the rules of the kinds; expressions are not checked. */
export function catalogWithRules(options: Partial<Parameters<typeof strategiesWith>[0]> = {}): MutableCatalog {
  const strategies = strategiesWith({ eventTtlSeconds: 3600, ...options });
  const served = parseRuntimeConfig("", builtinVersions());
  const definitions = builtinDefinitions({ strategies, conversions: builtinConversions, served });
  return openCatalog(definitions, (definition) => ({ definition, store: undefined }));
}

/** @param runtimeConfig the value of `--runtime-config` */
export function builtinCatalog(runtimeConfig = ""): MutableCatalog {
  const served = parseRuntimeConfig(runtimeConfig, builtinVersions());
  const definitions = builtinDefinitions({ strategies: {}, conversions: testConversions, served });
  return openCatalog(definitions, (definition) => ({ definition, store: undefined }));
}

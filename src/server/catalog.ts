/** Builds the catalog of built-in resources. What compiles CEL expressions is loaded when the first object has one. */
import { builtinConversions, storedConversions, strategiesWith } from "../apis/index.ts";
import { builtinDefinitions } from "../catalog/builtin-definitions.ts";
import { openCatalog } from "../catalog/catalog.ts";
import type { MutableCatalog } from "../catalog/contract.ts";
import type { Installer } from "../catalog/install.ts";
import type { ServerOptions } from "../options.ts";
import type { Settings } from "./settings.ts";

/** Opens the catalog, with the strategies that the options configure. */
export function openServerCatalog(options: ServerOptions, { served }: Settings, installer: Installer): MutableCatalog {
  const strategies = strategiesWith({
    eventTtlSeconds: options.eventTtlSeconds,
    loadRuleChecker: async () => (await import("./custom-resources.ts")).definitionRules,
    loadExpressionChecker: async () => (await import("./policy-expressions.ts")).policyChecker,
    loadSelectorChecker: async () => (await import("./policy-expressions.ts")).deviceChecker,
  });
  const definitions = builtinDefinitions({ strategies, conversions: builtinConversions, storedConversions, served });
  return openCatalog(definitions, installer.install);
}

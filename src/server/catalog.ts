/** Builds the catalog of built-in resources. What compiles CEL expressions is loaded when the first object has one. */
import { builtinConversions, storedConversions, strategiesWith } from "../apis/index.ts";
import { builtinDefinitions } from "../catalog/builtin-definitions.ts";
import { openCatalog } from "../catalog/catalog.ts";
import type { MutableCatalog, ResourceDefinition } from "../catalog/contract.ts";
import type { Installer } from "../catalog/install.ts";
import { memo } from "../lib/memo/memo.ts";
import type { ServerOptions } from "./options.ts";
import type { Settings } from "./settings.ts";

/** Servers with equal options share their definitions. */
const known = memo<readonly ResourceDefinition[]>(8);

/** Opens the catalog, with the strategies that the options configure. */
export function openServerCatalog(options: ServerOptions, settings: Settings, installer: Installer): MutableCatalog {
  return openCatalog(definitionsOf(options, settings), installer.install);
}

function definitionsOf(options: ServerOptions, settings: Settings): readonly ResourceDefinition[] {
  const { eventTtlSeconds, runtimeConfig, featureGates } = options;
  const key = JSON.stringify([eventTtlSeconds, runtimeConfig, featureGates]);
  return known(key, () => builtinDefinitionsFor(options, settings));
}

function builtinDefinitionsFor(
  options: Pick<ServerOptions, "eventTtlSeconds">,
  { served }: Pick<Settings, "served">,
): readonly ResourceDefinition[] {
  const strategies = strategiesWith({
    eventTtlSeconds: options.eventTtlSeconds,
    loadRuleChecker: async () => (await import("./custom-resources.ts")).definitionRules,
    loadExpressionChecker: async () => (await import("./policy-expressions.ts")).policyChecker,
    loadSelectorChecker: async () => (await import("./policy-expressions.ts")).deviceChecker,
  });
  return builtinDefinitions({ strategies, conversions: builtinConversions, storedConversions, served });
}

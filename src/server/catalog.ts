/** Builds the catalog of built-in resources. What compiles CEL expressions is loaded when the first object has one. */
import { builtinConversions, storedConversions, strategiesWith } from "../apis/index.ts";
import { builtinDefinitions } from "../catalog/builtin-definitions.ts";
import { openCatalog } from "../catalog/catalog.ts";
import type { MutableCatalog, ResourceDefinition } from "../catalog/contract.ts";
import type { Installer } from "../catalog/install.ts";
import type { ServerOptions } from "../options.ts";
import type { Settings } from "./settings.ts";

/** Servers with equal options share their definitions. Those that were made first are forgotten when there are more. */
const knownMax = 8;
const known = new Map<string, readonly ResourceDefinition[]>();

/** Opens the catalog, with the strategies that the options configure. */
export function openServerCatalog(options: ServerOptions, settings: Settings, installer: Installer): MutableCatalog {
  return openCatalog(definitionsOf(options, settings), installer.install);
}

function definitionsOf(options: ServerOptions, settings: Settings): readonly ResourceDefinition[] {
  const { eventTtlSeconds, runtimeConfig, featureGates } = options;
  const key = JSON.stringify([eventTtlSeconds, runtimeConfig, featureGates]);
  const existing = known.get(key);
  if (existing !== undefined) return existing;
  const definitions = builtinDefinitionsFor(options, settings);
  known.set(key, definitions);
  if (known.size > knownMax) known.delete(known.keys().next().value as string);
  return definitions;
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

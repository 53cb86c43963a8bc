/** Builds the catalog of built-in resources. What compiles CEL expressions is loaded when the first object has one. */
import { builtinConversions, storedConversions, strategiesWith } from "../apis/index.ts";
import { builtinDefinitions } from "../catalog/builtin-definitions.ts";
import { openCatalog } from "../catalog/catalog.ts";
import type { MutableCatalog, ResourceDefinition } from "../catalog/contract.ts";
import type { Installer } from "../catalog/install.ts";
import { memo } from "../lib/memo/memo.ts";
import type { ServerOptions } from "./options.ts";
import { apiKey, type Settings } from "./settings.ts";

/** Servers with equal options share their definitions. */
const known = memo<readonly ResourceDefinition[]>(8);

/** Opens the catalog, with the strategies that the options configure. */
export function openServerCatalog(options: ServerOptions, settings: Settings, installer: Installer): MutableCatalog {
  return openCatalog(definitionsOf(options, settings), installer.install);
}

function definitionsOf(options: ServerOptions, settings: Settings): readonly ResourceDefinition[] {
  return known(`${options.eventTtlSeconds} ${apiKey(options)}`, () => builtinDefinitionsFor(options, settings));
}

function builtinDefinitionsFor(
  options: Pick<ServerOptions, "eventTtlSeconds">,
  { served, gates }: Pick<Settings, "served" | "gates">,
): readonly ResourceDefinition[] {
  const { minCompatible } = gates.version;
  const strategies = strategiesWith({
    eventTtlSeconds: options.eventTtlSeconds,
    gates,
    loadRuleChecker: async () => (await import("./custom-resources.ts")).definitionRules(minCompatible),
    loadExpressionChecker: async () => (await import("./policy-expressions.ts")).policyChecker(minCompatible),
    loadSelectorChecker: async () => (await import("./policy-expressions.ts")).deviceChecker(minCompatible),
  });
  return builtinDefinitions({ strategies, conversions: builtinConversions, storedConversions, served, minCompatible });
}

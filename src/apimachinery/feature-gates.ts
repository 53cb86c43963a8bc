/**
 * Parses `--feature-gates`. Rules and messages are those of
 * k8s.io/component-base@v0.36.0/featuregate/feature_gate.go.
 */

import assert from "node:assert/strict";
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import { memo } from "../lib/memo/memo.ts";
import { readTable } from "./data/data-file.ts";
import { parseBool } from "./parse-bool.ts";

/** Whether features are on, by the name of the gate. */
export interface FeatureGates {
  /** @throws AssertionError if there is no such gate */
  enabled(name: string): boolean;
}

/** A row of src/apimachinery/data/gates.json. */
export interface Gate {
  readonly name: string;
  readonly stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED";
  readonly enabled: boolean;
  /** The flag cannot change the gate. */
  readonly locked?: true;
  /** The gate belongs to another component of Kubernetes and has no effect in this server. */
  readonly elsewhere?: true;
  /** The gates that must be on if this one is. */
  readonly needs?: readonly string[];
}

interface GatesTable {
  readonly gates: readonly Gate[];
  /** Other names that fields use for a gate; true means always on. */
  readonly aliases: Readonly<Record<string, string | true>>;
}

interface ParsedFeatureGates {
  readonly gates: FeatureGates;
  readonly warnings: readonly string[];
}

/** Names that set all gates of a stage, except those that are set by their own name. */
const groups: ReadonlyMap<string, Gate["stage"]> = new Map([
  ["AllAlpha", "ALPHA"],
  ["AllBeta", "BETA"],
]);

/**
 * Applies the flag to the defaults.
 *
 * @param text `Name=true` pairs separated by commas; the last pair of a name counts
 * @throws Error if a pair is malformed, a gate is unknown, a locked gate would change, or a gate is
 *   on without the gates that it needs
 */
export function parseFeatureGates(text: string): ParsedFeatureGates {
  return known(text, () => applyToDefaults(text));
}

const known = memo<ParsedFeatureGates>(8);

function applyToDefaults(text: string): ParsedFeatureGates {
  const { gates, aliases } = readGates();
  const known = new Map(gates.map((gate) => [gate.name, gate]));
  const settings = parsePairs(text);
  const enabled = new Map(gates.map((gate) => [gate.name, gate.enabled]));
  const warnings: string[] = [];
  for (const [name, on] of settings) {
    const stage = groups.get(name);
    if (stage === undefined) warnings.push(...checkSetting(name, on, known.get(name)));
    else for (const gate of gates) if (gate.stage === stage && gate.locked !== true) enabled.set(gate.name, on);
  }
  for (const [name, on] of settings) if (!groups.has(name)) enabled.set(name, on);
  checkNeeds(gates, enabled);
  for (const [alias, gate] of Object.entries(aliases)) enabled.set(alias, gate === true || enabled.get(gate) === true);
  return { gates: featureGates(enabled), warnings };
}

function featureGates(enabled: ReadonlyMap<string, boolean>): FeatureGates {
  return {
    enabled(name) {
      const on = enabled.get(name);
      assert.ok(on !== undefined, `no feature gate ${name}`);
      return on;
    },
  };
}

/** @returns warnings */
function checkSetting(name: string, on: boolean, gate: Gate | undefined): string[] {
  if (gate === undefined) throw new Error(`unrecognized feature gate: ${name}`);
  if (gate.locked === true && on !== gate.enabled) {
    throw new Error(`cannot set feature gate ${name} to ${on}, feature is locked to ${gate.enabled}`);
  }
  const warnings: string[] = [];
  if (gate.stage === "DEPRECATED")
    warnings.push(`Setting deprecated feature gate ${name}=${on}. It will be removed in a future release.`);
  if (gate.stage === "GA")
    warnings.push(`Setting GA feature gate ${name}=${on}. It will be removed in a future release.`);
  if (gate.elsewhere === true) warnings.push(`Feature gate ${name} has no effect in this server.`);
  return warnings;
}

function checkNeeds(gates: readonly Gate[], enabled: ReadonlyMap<string, boolean>): void {
  const problems = gates.flatMap(({ name, needs = [] }) => {
    const off = enabled.get(name) === true ? needs.filter((need) => enabled.get(need) !== true) : [];
    return off.length === 0
      ? []
      : [`${name} is enabled, but depends on features that are disabled: [${off.join(" ")}]`];
  });
  if (problems.length > 0) throw new Error(joinErrors(problems));
}

function parsePairs(text: string): Map<string, boolean> {
  const settings = new Map<string, boolean>();
  for (const part of text.split(",")) {
    const pair = ofThisComponent(part);
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = (equals < 0 ? pair : pair.slice(0, equals)).trim();
    if (equals < 0) throw new Error(`missing bool value for ${name}`);
    const value = pair.slice(equals + 1).trim();
    const on = parseBool(value);
    if (on === undefined)
      throw new Error(
        `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${quoteGo(value)}: invalid syntax`,
      );
    settings.set(name, on);
  }
  return settings;
}

/** @returns the pair without the name of the component, which is `kube` if it is empty or absent */
function ofThisComponent(part: string): string {
  const colon = part.indexOf(":");
  const component = part.slice(0, Math.max(0, colon)).trim();
  if (component !== "" && component !== "kube") throw new Error(`component not registered: ${component}`);
  return part.slice(colon + 1);
}

/** @returns all feature gates of Kubernetes 1.36, ordered by name */
export function knownGates(): readonly Gate[] {
  return readGates().gates;
}

function readGates(): GatesTable {
  return readTable("gates.json");
}

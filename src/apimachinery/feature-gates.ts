/**
 * Parses `--feature-gates`. Rules and messages are those of
 * k8s.io/component-base@v0.36.0/featuregate/feature_gate.go.
 */

import assert from "node:assert/strict";
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import { memo } from "../lib/memo/memo.ts";
import { readTable } from "./data/data-file.ts";
import { binaryMinor, defaultVersion, type EffectiveVersion, formatRelease } from "./effective-version.ts";
import { parseBool } from "./parse-bool.ts";

/** Whether features are on, by the name of the gate. */
export interface FeatureGates {
  /** @throws AssertionError if there is no such gate */
  enabled(name: string): boolean;
}

/** The gates of a server, and the releases by which they have these values. */
export interface VersionedGates extends FeatureGates {
  readonly version: EffectiveVersion;
}

/** What begins with a release, such as 34: a stage, whether the gate is on, and whether the flag cannot change it. */
export type GateStage = readonly [since: number, stage: Stage, enabled: boolean, locked?: true];

type Stage = "ALPHA" | "BETA" | "GA" | "DEPRECATED";

/** A row of src/apimachinery/data/gates.json. */
export interface GateRow {
  readonly name: string;
  /** From the oldest that can be emulated. */
  readonly stages: readonly GateStage[];
  /** The gate belongs to another component of Kubernetes and has no effect in this server. */
  readonly elsewhere?: true;
  /** The gates that must be on if this one is. */
  readonly needs?: readonly string[];
}

/** A gate at an emulated version. */
export interface Gate extends Pick<GateRow, "name" | "elsewhere" | "needs"> {
  readonly stage: Stage;
  readonly enabled: boolean;
  /** The flag cannot change the gate. */
  readonly locked: boolean;
}

interface GatesTable {
  readonly gates: readonly GateRow[];
  /** Other names that fields use for a gate; true means always on. */
  readonly aliases: Readonly<Record<string, string | true>>;
}

interface ParsedFeatureGates {
  readonly gates: VersionedGates;
  readonly warnings: readonly string[];
}

/** Names that set all gates of a stage, except those that are set by their own name. */
const groups: ReadonlyMap<string, Stage> = new Map([
  ["AllAlpha", "ALPHA"],
  ["AllBeta", "BETA"],
]);

/** The names of {@link groups}, which are gates, too. */
export const gateGroups: readonly Pick<Gate, "name" | "stage">[] = Array.from(groups, ([name, stage]) => ({
  name,
  stage,
}));

/**
 * Applies the flag to the defaults of the emulated version.
 *
 * @param text `Name=true` pairs separated by commas; the last pair of a name counts
 * @throws Error if a pair is malformed, a gate is unknown or follows the emulated version, a locked gate would change, or
 *   a gate is on without the gates that it needs
 */
export function parseFeatureGates(text: string, version: EffectiveVersion = defaultVersion): ParsedFeatureGates {
  const { emulated, minCompatible } = version;
  return known(JSON.stringify([emulated, minCompatible, text]), () => applyToDefaults(text, version));
}

const known = memo<ParsedFeatureGates>(8);

function applyToDefaults(text: string, version: EffectiveVersion): ParsedFeatureGates {
  const { gates: rows, aliases } = readGates();
  const gates = knownGates(version.emulated);
  const known = new Map(gates.map((gate) => [gate.name, gate]));
  const settings = parsePairs(text);
  // Gates that follow the emulated version are off.
  const enabled = new Map(rows.map(({ name }) => [name, known.get(name)?.enabled === true]));
  const warnings: string[] = [];
  const problems: string[] = [];
  for (const [name, on] of settings) {
    const stage = groups.get(name);
    if (stage === undefined) {
      const problem = settingProblem(name, on, { gate: known.get(name), rows, version });
      if (problem !== undefined) problems.push(problem);
      else warnings.push(...settingWarnings(on, known.get(name) as Gate));
    } else for (const gate of gates) if (gate.stage === stage && !gate.locked) enabled.set(gate.name, on);
  }
  if (problems.length > 0) throw new Error(joinErrors(problems));
  for (const [name, on] of settings) if (!groups.has(name)) enabled.set(name, on);
  for (const { name } of gateGroups) enabled.set(name, settings.get(name) ?? false);
  checkNeeds(gates, enabled);
  warnings.push(...emulationWarnings(gates, enabled, version));
  for (const [alias, gate] of Object.entries(aliases)) enabled.set(alias, gate === true || enabled.get(gate) === true);
  return { gates: featureGates(enabled, version), warnings };
}

/** Source: `Validate` in k8s.io/component-base@v0.36.0/compatibility/registry.go. */
function emulationWarnings(
  gates: readonly Gate[],
  enabled: ReadonlyMap<string, boolean>,
  { emulated }: EffectiveVersion,
): string[] {
  const alpha = gates.filter(({ name, stage }) => stage === "ALPHA" && enabled.get(name)).map(({ name }) => name);
  if (emulated === binaryMinor || alpha.length === 0) return [];
  return [
    `component has alpha features enabled in emulated version, this is unsupported: features=[${alpha.join(" ")}]`,
  ];
}

function featureGates(enabled: ReadonlyMap<string, boolean>, version: EffectiveVersion): VersionedGates {
  return {
    version,
    enabled(name) {
      const on = enabled.get(name);
      assert.ok(on !== undefined, `no feature gate ${name}`);
      return on;
    },
  };
}

interface CheckedGate {
  /** Undefined if the emulated version does not have it. */
  readonly gate: Gate | undefined;
  readonly rows: readonly GateRow[];
  readonly version: EffectiveVersion;
}

/** @throws Error if there is no such gate @returns undefined without a problem */
function settingProblem(name: string, on: boolean, { gate, rows, version }: CheckedGate): string | undefined {
  if (gate === undefined) {
    if (!rows.some((row) => row.name === name)) throw new Error(`unrecognized feature gate: ${name}`);
    const emulated = `emulated version ${formatRelease(version.emulated)}`;
    const at = `${emulated}, min compatibility version ${formatRelease(version.minCompatible)}`;
    return `cannot set feature gate ${name} to ${on}, feature is PreAlpha at ${at}`;
  }
  if (!gate.locked || on === gate.enabled) return undefined;
  return `cannot set feature gate ${name} to ${on}, feature is locked to ${gate.enabled}`;
}

function settingWarnings(on: boolean, { name, stage, elsewhere }: Gate): string[] {
  const warnings: string[] = [];
  if (stage === "DEPRECATED")
    warnings.push(`Setting deprecated feature gate ${name}=${on}. It will be removed in a future release.`);
  if (stage === "GA") warnings.push(`Setting GA feature gate ${name}=${on}. It will be removed in a future release.`);
  if (elsewhere === true) warnings.push(`Feature gate ${name} has no effect in this server.`);
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

/** @param emulated a release, such as 34 @returns all feature gates that it has, ordered by name */
export function knownGates(emulated: number): readonly Gate[] {
  return readGates().gates.flatMap(({ stages, ...row }) => {
    const current = stages.findLast(([since]) => since <= emulated);
    if (current === undefined) return [];
    const [, stage, enabled, locked = false] = current;
    return [{ ...row, stage, enabled, locked }];
  });
}

function readGates(): GatesTable {
  return readTable("gates.json");
}

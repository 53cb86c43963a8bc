/** src/apimachinery/data/gates.json: every feature gate that `--feature-gates` knows. The format is in src/apimachinery/feature-gates.ts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emulatedMinorMin } from "../../src/apimachinery/effective-version.ts";
import type { GateRow, GateStage } from "../../src/apimachinery/feature-gates.ts";
import { fieldGateAliases, gatesWithEffect } from "./gates-with-effect.ts";
import { type GateLifecycle, minorOf, readLifecycles } from "./lifecycles.ts";

/** Locked upstream, but settable in this server; gates that need them do so only in theory. */
const settable = new Set(["AuthorizeWithSelectors", "DeclarativeValidation", "StructuredAuthenticationConfiguration"]);
/** Names that set all gates of a stage, and are no gates themselves. */
const groups = new Set(["AllAlpha", "AllBeta"]);

export function generateGates(factsDir: string, dataDir: string): void {
  const ofFields = gatesOfFields(factsDir);
  const gates = readLifecycles(factsDir).gates.filter(({ gate }) => !groups.has(gate));
  const known = new Set(gates.map(({ gate }) => gate));
  const unknown = [...ofFields].filter((name) => !known.has(name) && !Object.hasOwn(fieldGateAliases, name));
  if (unknown.length > 0) throw new Error(`gates of fields that upstream does not have: ${unknown.join(", ")}`);
  const lines = gates.map((gate) => JSON.stringify(rowOf(gate, ofFields)));
  const aliases = Object.entries(fieldGateAliases).map(([name, gate]) => [name, gate ?? true]);
  writeFileSync(
    join(dataDir, "gates.json"),
    `{\n"gates":[\n${lines.join(",\n")}\n],\n"aliases":${JSON.stringify(Object.fromEntries(aliases))}\n}\n`,
  );
}

/** The gates that fields of the API mention. */
function gatesOfFields(factsDir: string): Set<string> {
  const names = new Set<string>();
  JSON.parse(readFileSync(join(factsDir, "types.json"), "utf8"), (key, value) => {
    if (key === "featureGate") for (const name of value) names.add(name);
    return value;
  });
  return names;
}

function rowOf({ gate: name, stages, needs = [] }: GateLifecycle, ofFields: ReadonlySet<string>): GateRow {
  const first = stages.findLastIndex(({ since }) => minorOf(since) <= emulatedMinorMin);
  const needed = needs.filter((one) => !settable.has(one));
  return {
    name,
    stages: stages.slice(Math.max(first, 0)).map((stage): GateStage => {
      const since = minorOf(stage.since);
      const isLocked = stage.locked === true && !settable.has(name);
      return isLocked ? [since, stage.stage, stage.default, true] : [since, stage.stage, stage.default];
    }),
    ...(!ofFields.has(name) && !gatesWithEffect.has(name) && { elsewhere: true }),
    ...(needed.length > 0 && { needs: needed }),
  };
}

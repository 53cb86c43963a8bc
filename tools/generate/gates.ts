/** src/apimachinery/data/gates.json: every feature gate that `--feature-gates` knows. The format is in src/apimachinery/feature-gates.ts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fieldGateAliases, gateNeeds, gatesWithEffect, kubeApiserverGates } from "./kube-apiserver-gates.ts";

interface Facts {
  gates: Record<string, { source: string; default: boolean; stage: string; lockToDefault?: boolean }>;
  /** Gates that fields of the API mention, and no staging module declares. */
  namedByFieldsOnly: string[];
}

/** Locked upstream, but settable in this server. */
const settable = new Set(["AuthorizeWithSelectors", "DeclarativeValidation", "StructuredAuthenticationConfiguration"]);

export function generateGates(factsDir: string, dataDir: string): void {
  const facts = JSON.parse(readFileSync(join(factsDir, "gates.json"), "utf8")) as Facts;
  const gates = new Map<string, { stage: string; enabled: boolean; locked: boolean; elsewhere: boolean }>();
  for (const [stage, enabled, locked, names] of kubeApiserverGates) {
    for (const name of names.split(/\s+/)) {
      const elsewhere = !facts.namedByFieldsOnly.includes(name) && !gatesWithEffect.has(name);
      gates.set(name, { stage, enabled, locked, elsewhere });
    }
  }
  for (const [name, { source, stage, default: enabled, lockToDefault }] of Object.entries(facts.gates)) {
    const elsewhere = !source.startsWith("api") && !gatesWithEffect.has(name);
    gates.set(name, {
      stage,
      enabled,
      locked: lockToDefault === true && !settable.has(name),
      elsewhere,
    });
  }
  const unknown = facts.namedByFieldsOnly.filter((name) => !gates.has(name) && !Object.hasOwn(fieldGateAliases, name));
  if (unknown.length > 0) throw new Error(`gates of fields without a default: ${unknown.join(", ")}`);
  const lines = [...gates]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { stage, enabled, locked, elsewhere }]) =>
      JSON.stringify({
        name,
        stage,
        enabled,
        ...(locked && { locked }),
        ...(elsewhere && { elsewhere }),
        ...needsOf(name),
      }),
    );
  const aliases = Object.entries(fieldGateAliases).map(([name, gate]) => [name, gate ?? true]);
  writeFileSync(
    join(dataDir, "gates.json"),
    `{\n"gates":[\n${lines.join(",\n")}\n],\n"aliases":${JSON.stringify(Object.fromEntries(aliases))}\n}\n`,
  );
}

function needsOf(name: string): object {
  const needs = Object.hasOwn(gateNeeds, name) ? gateNeeds[name] : undefined;
  return needs === undefined ? {} : { needs: needs.split(" ") };
}

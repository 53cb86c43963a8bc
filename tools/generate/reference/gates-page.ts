/** docs/reference/feature-gates.md: the feature gates, their stages and defaults. */
import { binaryMinor, emulatedMinorMin, formatRelease } from "../../../src/apimachinery/effective-version.ts";
import { type Gate, knownGates } from "../../../src/apimachinery/feature-gates.ts";
import { code, generatedNote, table } from "./markdown.ts";

const introduction = `The names that \`--feature-gates\` accepts, with the stages and defaults of kube-apiserver 1.36. \`AllAlpha\` and \`AllBeta\` set all gates of a stage that are
not set by their own names. The flag cannot change a locked gate. A gate without an effect here concerns other components of Kubernetes: it is accepted with
a warning. [Compatibility](../compatibility/feature-gates.md) says what the others change.`;

const earlierIntroduction = `With a lower [\`--emulated-version\`](../compatibility/emulated-versions.md), these gates have other stages or defaults. The flag cannot set
a gate that the emulated version does not have.`;

const releases = Array.from({ length: binaryMinor - emulatedMinorMin + 1 }, (_, age) => binaryMinor - age);

export function gatesPage(): string {
  const rows = knownGates(binaryMinor).map(({ name, stage, enabled, locked, elsewhere, needs }: Gate) => [
    code(name),
    stage,
    `${enabled ? "on" : "off"}${locked ? ", locked" : ""}`,
    elsewhere ? "no" : "yes",
    (needs ?? []).map(code).join(", "),
  ]);
  const gates = table(["gate", "stage", "default", "has an effect", "requires"], rows);
  return [
    "# Feature gates\n",
    `${generatedNote}\n`,
    `${introduction}\n`,
    gates,
    "\n## Emulated versions\n",
    `${earlierIntroduction}\n`,
    earlierGates(),
  ].join("\n");
}

function earlierGates(): string {
  const byRelease = releases.map((release) => new Map(knownGates(release).map((gate) => [gate.name, stateOf(gate)])));
  const rows = knownGates(binaryMinor)
    .map(({ name }) => [code(name), ...byRelease.map((states) => states.get(name) ?? "–")])
    .filter(([, ...states]) => new Set(states).size > 1);
  return table(["gate", ...releases.map(formatRelease)], rows);
}

function stateOf({ stage, enabled, locked }: Gate): string {
  return `${stage}, ${enabled ? "on" : "off"}${locked ? ", locked" : ""}`;
}

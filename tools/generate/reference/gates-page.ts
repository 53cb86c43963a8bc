/** docs/reference/feature-gates.md: the feature gates, their stages and defaults. */
import { type Gate, knownGates } from "../../../src/apimachinery/feature-gates.ts";
import { code, generatedNote, table } from "./markdown.ts";

const introduction = `The names that \`--feature-gates\` accepts, with the stages and defaults of kube-apiserver 1.36. \`AllAlpha\` and \`AllBeta\` set all gates of a stage that are
not set by their own names. The flag cannot change a locked gate. A gate without an effect here concerns other components of Kubernetes: it is accepted with
a warning. [Compatibility](../compatibility/feature-gates.md) says what the others change.`;

export function gatesPage(): string {
  const rows = knownGates().map(({ name, stage, enabled, locked, elsewhere, needs }: Gate) => [
    code(name),
    stage,
    `${enabled ? "on" : "off"}${locked ? ", locked" : ""}`,
    elsewhere ? "no" : "yes",
    (needs ?? []).map(code).join(", "),
  ]);
  const gates = table(["gate", "stage", "default", "has an effect", "requires"], rows);
  return ["# Feature gates\n", `${generatedNote}\n`, `${introduction}\n`, gates].join("\n");
}

/** Formats an explanation of admission as text. */

import { printable } from "../../lib/json/printable.ts";
import type { TracedObject, TraceStep } from "../../request/admission-trace.ts";
import type { Explanation } from "./explain.ts";

export function formatText({ response, steps, hidden }: Explanation): string {
  const lines = [
    response.status < 300
      ? `Allowed: the server would answer ${response.status}.`
      : `Rejected with ${response.status}: ${printable(response.body?.message ?? "")}`,
    "",
    ...pluginsFirst(steps).flatMap(formatStep),
    ...(hidden > 0 ? ["", `${hidden} steps are hidden: you may not get their configurations or parameters.`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** A plugin reports its webhooks or policies before itself. */
function pluginsFirst(steps: readonly TraceStep[]): TraceStep[] {
  const ordered: TraceStep[] = [];
  let parts: TraceStep[] = [];
  for (const step of steps) {
    if (step.part !== undefined) parts.push(step);
    else {
      ordered.push(step, ...parts);
      parts = [];
    }
  }
  return [...ordered, ...parts];
}

function formatStep({ plugin, phase, part, objects = [], outcome, message, patch = [], seconds }: TraceStep): string[] {
  const title = part === undefined ? printable(plugin) : `  ${printable(part)}`;
  const details = [
    ...objects.map((object) => `from ${formatObject(object)}`),
    ...(message === undefined ? [] : [printable(message)]),
    ...patch.map((operation) => printable(JSON.stringify(operation))),
  ];
  return [
    `${title} (${phase}): ${outcome}, ${(seconds * 1000).toFixed(2)} ms`,
    ...details.map((line) => `    ${line}`),
  ];
}

function formatObject({ group, resource, namespace, name }: TracedObject): string {
  const place = namespace === "" ? name : `${namespace}/${name}`;
  return printable(`${resource}${group === "" ? "" : `.${group}`} ${place}`);
}

/** Formats an explanation of admission as text. */

import { printable } from "../../lib/json/printable.ts";
import type { TracedObject, TraceStep } from "../../request/admission-trace.ts";
import type { Explanation } from "./explain.ts";

/** @param options `all`: lists steps that changed nothing, too */
export function formatText({ response, steps, hidden }: Explanation, { all }: { readonly all: boolean }): string {
  const ordered = pluginsFirst(steps);
  const shown = all ? ordered : ordered.filter((step, index) => isShown(step, ordered[index + 1]));
  const blocks = [
    response.status < 300
      ? `Allowed: the server would answer ${response.status}.`
      : `Rejected with ${response.status}: ${printable(response.body?.message ?? "")}`,
    shown.flatMap(formatStep).join("\n"),
    [
      ...unlisted(
        ordered.filter((step) => !shown.includes(step)),
        shown.length === 0,
      ),
      ...(hidden > 0 ? [`${hidden} steps are hidden: you may not get their configurations or parameters.`] : []),
    ].join("\n"),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** Whether a step changed, rejected or reported something, or is a webhook or policy that matched, or the plugin of one. */
function isShown({ part, outcome, message, patch = [] }: TraceStep, next: TraceStep | undefined): boolean {
  if (part !== undefined) return outcome !== "skipped";
  const hasPart = next?.part !== undefined && next.outcome !== "skipped";
  return hasPart || message !== undefined || patch.length > 0 || !["allowed", "unchanged", "skipped"].includes(outcome);
}

/** Which webhooks and policies did not match, and that other steps are left out. */
function unlisted(steps: readonly TraceStep[], isAll: boolean): string[] {
  if (steps.length === 0) return [];
  const skipped = steps.flatMap(({ part }) => (part === undefined ? [] : [printable(part)]));
  const names = skipped.length === 0 ? "" : `; skipped: ${[...new Set(skipped)].join(", ")}`;
  return [`${isAll ? "No plugin changed anything" : "The other plugins changed nothing"}${names} (--all lists them)`];
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

import { printable } from "../../lib/json/printable.ts";
import type { ExplainedQuota } from "./explain.ts";

/** Objects of a resource that are printed; the JSON has all. */
const objectsMax = 20;

/** Formats explained quotas as text. */
export function formatText(namespace: string, quotas: readonly ExplainedQuota[]): string {
  if (quotas.length === 0) return `Namespace ${printable(namespace)} has no resource quota.\n`;
  return quotas.map((quota) => `${linesOf(quota).join("\n")}\n`).join("\n");
}

function linesOf({ name, scopes, resources }: ExplainedQuota): string[] {
  const head = `ResourceQuota ${printable(name)}${scopes === "" ? "" : `, for objects in ${printable(scopes)}`}`;
  return [head, ...resources.flatMap(resourceLines)];
}

function resourceLines({
  name,
  hard,
  used,
  left,
  counted,
  objects,
  problem,
}: ExplainedQuota["resources"][number]): string[] {
  const shown = objects.slice(0, objectsMax);
  return [
    `  ${printable(name)}: ${used ?? "?"} of ${hard} used, ${left ?? "?"} left`,
    ...(counted === null ? ["    the server has no kind that uses it"] : []),
    ...(problem === null ? [] : [`    ${problem}`]),
    ...shown.map((object) => `    ${object.resource} ${printable(object.name)}: ${object.amount}`),
    ...(objects.length > shown.length ? [`    and ${objects.length - shown.length} more`] : []),
  ];
}

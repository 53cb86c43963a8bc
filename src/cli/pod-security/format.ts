/** Prints the results of `coxswain pod-security check`. */

import { printable } from "../../lib/json/printable.ts";
import type { FailedCheck } from "../../lib/pod-security/evaluate.ts";
import { formatField } from "../../lib/pod-security/format-field.ts";
import { formatLevelVersion, type LevelVersion } from "../../lib/pod-security/levels.ts";
import { fieldIn } from "../../lib/pod-security/pod-templates.ts";
import type { CheckedObject } from "./read-objects.ts";

/** An object with the checks that it violates. */
export interface CheckResult {
  readonly object: CheckedObject;
  readonly failed: readonly FailedCheck[];
}

/** Formats the results for a person. */
export function formatText(results: readonly CheckResult[], standard: LevelVersion): string {
  const violating = results.filter(({ failed }) => failed.length > 0).length;
  const summary = `${violating} of ${results.length} objects violate ${formatLevelVersion(standard)}.`;
  return `${[...results.flatMap(formatResult), summary].join("\n")}\n`;
}

function formatResult({ object, failed }: CheckResult): string[] {
  const { kind, namespace, name } = object;
  const title = printable(`${kind.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`);
  if (failed.length === 0) return [`${title}: allowed`];
  const checks = failed.flatMap(({ id, reason, detail, fields }) => [
    `  ${id}: ${printable(`${reason} (${detail})`)}`,
    ...fields.map((field) => `    ${printable(formatField(kind, field))}`),
  ]);
  return [`${title}: violates ${failed.length} ${failed.length === 1 ? "check" : "checks"}`, ...checks];
}

/** Formats the results as a JSON document. */
export function formatJson(results: readonly CheckResult[], { level, version }: LevelVersion): string {
  const objects = results.map(({ object: { kind, namespace, name }, failed }) => ({
    kind: kind.kind,
    namespace,
    name,
    allowed: failed.length === 0,
    violations: failed.map(({ id, level: of, reason, detail, fields }) => ({
      check: id,
      level: of,
      reason,
      detail,
      fields: fields.map(({ path, value, allowed }) => ({ field: fieldIn(kind, path), value, allowed })),
    })),
  }));
  return `${JSON.stringify({ level, version: version.text, objects }, undefined, 2)}\n`;
}

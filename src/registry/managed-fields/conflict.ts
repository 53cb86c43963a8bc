/**
 * The error of an apply that changes fields of other managers. See Kubernetes docs, Server-Side
 * Apply, Conflicts.
 */

import { ApiError } from "../../apimachinery/errors.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { managerInfo } from "../../lib/managed-fields/entries.ts";
import { formatPath } from "../../lib/structured-merge/fields-v1.ts";
import { paths } from "../../lib/structured-merge/set.ts";
import type { ManagerConflict } from "../../lib/structured-merge/updater.ts";

interface Conflict {
  readonly manager: string;
  readonly path: string;
}

/** Returns a 409 with one cause per field. */
export function applyConflict(found: readonly ManagerConflict[]): ApiError {
  const conflicts: Conflict[] = found
    .map(({ manager, set }) => ({ id: manager, manager: describeManager(manager), set }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap(({ manager, set }) => [...paths(set)].map((path) => ({ manager, path: formatPath(path) })));
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${manager}`,
    field: path,
  }));
  return new ApiError({ code: 409, reason: "Conflict", message: messageOf(conflicts), details: { causes } });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.path}`;
  const byManager = Map.groupBy(conflicts, ({ manager }) => manager);
  const lines = [...byManager].flatMap(([manager, of]) => [
    `conflicts with ${manager}:`,
    ...of.map(({ path }) => `- ${path}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function describeManager(id: string): string {
  const { manager, operation, apiVersion, subresource } = managerInfo(id);
  const through = subresource === "" ? "" : ` with subresource ${quoteGo(subresource)}`;
  return `${quoteGo(manager)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}

/** What clients of deprecated versions are told, in every answer. Source: access-control §6; upstream's deprecation warnings. */
import { formatGroupVersion } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";

/**
 * @param subresource empty for the main resource; views of other kinds (Scale) are deprecated with custom kinds alone
 * @returns undefined where nothing is
 */
export function deprecationWarning(
  { resource: { definition }, version }: Resolved,
  subresource: string,
): string | undefined {
  const { deprecated } = version;
  if (deprecated === undefined) return undefined;
  if ("warning" in deprecated) return deprecated.warning;
  if (subresource !== "" && version.subresources.find(({ name }) => name === subresource)?.kind !== definition.kind)
    return undefined;
  const { since, removedIn, replacement } = deprecated;
  const gone = removedIn === undefined ? "" : `, unavailable in v${removedIn}+`;
  const instead = replacement === undefined ? "" : `; use ${replacement}`;
  return `${formatGroupVersion(definition.group, version.version)} ${definition.kind} is deprecated in v${since}+${gone}${instead}`;
}

/**
 * The warning for clients of deprecated versions. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/deprecation/deprecation.go.
 */
import { formatGroupVersion } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";

/**
 * The text of the `Warning` header for a deprecated version.
 * @param subresource empty for the main resource; subresources of other kinds (Scale) are
 *   deprecated only for custom resources
 * @returns undefined when the version is not deprecated
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

/** Reports the use of deprecated versions. */
import { formatGroupVersion } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { RequestContext } from "./contract.ts";

/** Adds the warning of a deprecated version to the response, errors included. */
export function warnOfDeprecation(context: RequestContext, resolved: Resolved): void {
  const warning = deprecationWarning(resolved, context.info.subresource);
  if (warning !== undefined) context.warnings.push(warning);
}

/** Records the use of a deprecated version, and the release that removes it. */
export function auditDeprecation({ audit, info }: RequestContext, resolved: Resolved): void {
  const { deprecated } = resolved.version;
  if (audit === undefined || deprecationWarning(resolved, info.subresource) === undefined) return;
  audit.annotate("k8s.io/deprecated", "true");
  if (deprecated !== undefined && "removedIn" in deprecated && deprecated.removedIn !== undefined)
    audit.annotate("k8s.io/removed-release", deprecated.removedIn);
}

/**
 * The text of the `Warning` header for a deprecated version. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/deprecation/deprecation.go.
 * @param subresource empty for the main resource; subresources of other kinds (Scale) are
 *   deprecated only for custom resources
 * @returns undefined when the version is not deprecated
 */
function deprecationWarning({ resource: { definition }, version }: Resolved, subresource: string): string | undefined {
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

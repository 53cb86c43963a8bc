/**
 * ResourceClaim and its template: what is claimed never changes, and access to devices that others use is for namespaces with the label for it.
 * Source: upstream's registry/resource, AuthorizedForAdmin.
 */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import type { StrategyContext } from "../../resource/contract.ts";
import { strategy } from "../../resource/strategy.ts";
import { checkImmutable, items, type Part } from "../fields.ts";

export const resourceClaim = strategy({
  validate: (object, errors, context) => checkRequests(object, object.spec, errors, context),
  validateUpdate: (next, old, errors) => checkImmutable(next.spec, old.spec, "spec", errors),
  validateStatusUpdate(next, old, errors, context) {
    const index = grantedAt(next);
    if (index >= 0 && grantedAt(old) < 0) return checkLabel(next, `status.allocation.devices.results[${index}].adminAccess`, errors, context);
  },
});

export const resourceClaimTemplate = strategy({
  validate: (object, errors, context) => checkRequests(object, object.spec?.spec, errors, context),
  validateUpdate: (next, old, errors) => checkImmutable(next.spec, old.spec, "spec", errors),
});

const adminLabel = "resource.kubernetes.io/admin-access";

/** The path is that of a claim, also of templates, as upstream's. */
function checkRequests(object: KubeObject, spec: Part | undefined, errors: FieldErrors, context: StrategyContext): Promise<void> | undefined {
  const index = items(spec?.devices?.requests).findIndex(({ exactly }) => exactly?.adminAccess === true);
  return index < 0 ? undefined : checkLabel(object, `spec.devices.requests[${index}].adminAccess`, errors, context);
}

function grantedAt({ status }: KubeObject): number {
  return items(status?.allocation?.devices?.results).findIndex(({ adminAccess }) => adminAccess === true);
}

async function checkLabel({ metadata }: KubeObject, path: string, errors: FieldErrors, { find }: StrategyContext): Promise<void> {
  const namespace = await find("", "namespaces", "", metadata.namespace ?? "");
  if (namespace === undefined)
    errors.internal(path, `could not retrieve namespace to verify admin access: namespaces ${JSON.stringify(metadata.namespace)} not found`);
  else if (namespace.metadata.labels?.[adminLabel] !== "true")
    errors.forbidden(path, `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`);
}

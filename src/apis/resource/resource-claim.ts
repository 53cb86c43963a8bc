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
  validate: (object, errors, context) => checkAdminAccess(object, object.spec, errors, context),
  validateUpdate: (next, old, errors) => checkImmutable(next.spec, old.spec, "spec", errors),
});

export const resourceClaimTemplate = strategy({
  validate: (object, errors, context) => checkAdminAccess(object, object.spec?.spec, errors, context),
  validateUpdate: (next, old, errors) => checkImmutable(next.spec, old.spec, "spec", errors),
});

const adminLabel = "resource.kubernetes.io/admin-access";

/** The path is that of a claim, also of templates, as upstream's. */
async function checkAdminAccess({ metadata }: KubeObject, spec: Part | undefined, errors: FieldErrors, { find }: StrategyContext): Promise<void> {
  const index = items(spec?.devices?.requests).findIndex(({ exactly }) => exactly?.adminAccess === true);
  if (index < 0) return;
  const path = `spec.devices.requests[${index}].adminAccess`;
  const namespace = await find("", "namespaces", "", metadata.namespace ?? "");
  if (namespace === undefined)
    errors.internal(path, `could not retrieve namespace to verify admin access: namespaces ${JSON.stringify(metadata.namespace)} not found`);
  else if (namespace.metadata.labels?.[adminLabel] !== "true")
    errors.forbidden(path, `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`);
}

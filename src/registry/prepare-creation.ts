/** Creations that are part of the commit of another write. */

import { storeOf } from "../catalog/catalog.ts";
import type { AdmissionAttributes } from "./admission-attributes.ts";
import { settle } from "./commit.ts";
import type { RegistryContext } from "./contract.ts";
import { type CreateRequest, checkNoVersion, createOnce } from "./create.ts";
import type { JointCreation } from "./joint-change.ts";

/**
 * Does everything that a creation does before its commit, admission and validation included.
 *
 * @param outer the other write, which receives what the admission of this one adds
 * @throws ApiError 400, 403 (admission), 422
 */
export function prepareCreation(
  registry: RegistryContext,
  request: CreateRequest,
  outer: Pick<AdmissionAttributes, "undo" | "done" | "joint">,
): Promise<JointCreation> {
  return createOnce(registry, request, request.decode(), async (_registry, { target, namespace }, object, inner) => {
    checkNoVersion(object);
    const key = storeOf(target.resource).keyOf(namespace, object.metadata.name as string);
    outer.undo.push(...inner.undo);
    outer.done.push(...inner.done);
    outer.joint.push(...inner.joint);
    return { target, key, object: await settle(target, object) };
  });
}

/** Subresources that are actions. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { bindPod } from "./core/pod/binding.ts";
import { evictPod } from "./policy/eviction.ts";

/**
 * Performs the action of a created body. The response is a Status with 201 and Success.
 * @param request the name is empty for `bindings`
 * @param admit runs the validating admission plugins, after the checks of the body
 * @throws ApiError when the action is rejected
 */
type CreateAction = (
  registry: RegistryContext,
  request: WriteRequest,
  body: KubeObject,
  admit: () => Promise<void>,
) => Promise<void>;

/**
 * Actions by `group/resource/subresource`, and by `group/resource` for resources that are not
 * stored.
 */
export const createActions: Readonly<Record<string, CreateAction>> = {
  "/bindings": bindPod,
  "/pods/binding": bindPod,
  "/pods/eviction": evictPod,
};

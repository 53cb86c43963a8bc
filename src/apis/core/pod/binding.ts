/**
 * `binding`: assigns a pod to a node.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/storage/storage.go`.
 */

import { formatTime } from "../../../apimachinery/clock.ts";
import { badRequest, conflict, notFound, plainError } from "../../../apimachinery/errors.ts";
import { FieldErrors, plainText } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Resource } from "../../../catalog/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { commitWithRetry } from "../../../registry/commit-with-retry.ts";
import type { RegistryContext, WriteRequest } from "../../../registry/contract.ts";
import { checkStoredVersion, checkUid, keyInErrors } from "../../../registry/preconditions.ts";
import { items, struct } from "../../fields.ts";

const pods = { group: "", resource: "pods" };
const binding = { group: "", resource: "pods/binding" };

/**
 * Sets the node of a pod that has none.
 *
 * @param body a core/v1 Binding; its name is the pod's
 * @param admit runs the validating admission plugins, after the checks of the body
 * @throws ApiError 400 if it names another pod, 404, 409 if the pod is being deleted or has a node,
 *   500 if it names no node
 */
export async function bindPod(
  registry: RegistryContext,
  request: WriteRequest,
  body: KubeObject,
  admit: () => Promise<void>,
): Promise<void> {
  const bindingName = body.metadata.name ?? "";
  const name = request.name || bindingName;
  if (bindingName !== name) throw badRequest("name in URL does not match name in Binding object");
  checkTarget(body);
  await admit();
  if (name === "") throw badRequest("Name parameter required.");
  const resource = registry.catalog.findResource("", "pods");
  if (resource === undefined) throw notFound(pods, name); // Disabled by --runtime-config.
  const { namespace, dryRun } = request;
  await commitWithRetry(registry, { resource, namespace, name, dryRun }, async (existing) => {
    const object = existing && resource.store?.decode(existing);
    if (existing === undefined || object === undefined) throw notFound(pods, name);
    checkPreconditions(
      resource,
      { key: keyInErrors(existing.key, request), revision: existing.revision },
      { object, binding: body },
    );
    assign(object, body, registry);
    return { do: "put", object };
  });
}

function checkTarget({ target }: KubeObject): void {
  const errors = new FieldErrors();
  if ((target?.kind ?? "") !== "" && target.kind !== "Node")
    errors.notSupported("target.kind", plainText(target.kind), ["Node", "<empty>"]);
  if ((target?.name ?? "") === "") errors.required("target.name");
  if (errors.empty) return;
  const problems = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  // Like upstream, not a Status with code 422.
  throw plainError(problems.length === 1 ? (problems[0] as string) : `[${problems.join(", ")}]`);
}

/** @throws ApiError 409 if the binding has another UID or resourceVersion than the pod */
function checkPreconditions(
  resource: Resource,
  { key, revision }: { readonly key: string; readonly revision: number },
  { object, binding }: Record<"object" | "binding", KubeObject>,
): void {
  const { name = "", uid: existingUid = "" } = object.metadata;
  const { uid = "", resourceVersion = "" } = binding.metadata;
  checkUid(resource, key, name, uid, existingUid);
  if (resourceVersion !== "") checkStoredVersion(resource, key, name, resourceVersion, String(revision));
}

function assign(pod: KubeObject, { metadata, target }: KubeObject, { gates, clock }: RegistryContext): void {
  const name = pod.metadata.name as string;
  const spec = struct(pod, "spec");
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(binding, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if ((spec.nodeName ?? "") !== "")
    throw conflict(binding, name, `pod ${name} is already assigned to node ${quoteGo(spec.nodeName)}`);
  if (items(spec.schedulingGates).length > 0)
    throw conflict(binding, name, `pod ${name} has non-empty .spec.schedulingGates`);
  spec.nodeName = target.name;
  if (metadata.annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  if (metadata.labels && gates.enabled("PodTopologyLabelsAdmission"))
    pod.metadata.labels = { ...pod.metadata.labels, ...metadata.labels };
  const status = struct(pod, "status");
  if (gates.enabled("ClearingNominatedNodeNameAfterBinding")) delete status.nominatedNodeName;
  const others = items(status.conditions).filter(({ type }) => type !== "PodScheduled");
  status.conditions = [
    ...others,
    { type: "PodScheduled", status: "True", lastTransitionTime: formatTime(clock.now()) },
  ];
}

/** `binding`: a scheduler's word that a pod shall run on a node. Source: the pod registry's binding storage. */
import { formatTime } from "../../api/clock.ts";
import { badRequest, conflict, notFound, plainError } from "../../api/errors.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { commitWithRetry } from "../../registry/commit.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import type { Resource } from "../../resource/contract.ts";
import { items, struct } from "../fields.ts";

const pods = { group: "", resource: "pods" };
const binding = { group: "", resource: "pods/binding" };

/**
 * Sets the node of a pod that has none.
 * @param body a core/v1 Binding; its name is the pod's
 * @throws ApiError 400 when it names another pod, 404, 409 when the pod goes away or has a node, 500 when it names no node
 */
export async function bindPod(registry: RegistryContext, request: WriteRequest, body: KubeObject): Promise<void> {
  const name = request.name || (body.metadata.name ?? "");
  if (body.metadata.name !== undefined && body.metadata.name !== name) throw badRequest("name in URL does not match name in Binding object");
  checkTarget(body);
  const resource = registry.catalog.findResource("", "pods") as Resource;
  const { namespace, dryRun } = request;
  await commitWithRetry(registry, { resource, namespace, name, dryRun }, (existing) => {
    const object = existing && resource.store?.decode(existing);
    if (object === undefined) throw notFound(pods, name);
    assign(object, body, registry.clock.now());
    return { do: "put", object };
  });
}

function checkTarget({ target }: KubeObject): void {
  const errors = new FieldErrors();
  if ((target?.kind ?? "") !== "" && target.kind !== "Node") errors.notSupported("target.kind", target.kind, ["Node", "<empty>"]);
  if ((target?.name ?? "") === "") errors.required("target.name");
  if (errors.empty) return;
  const problems = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  throw plainError(problems.length === 1 ? (problems[0] as string) : `[${problems.join(", ")}]`); // No 422: upstream makes no Status of them.
}

function assign(pod: KubeObject, { metadata, target }: KubeObject, now: number): void {
  const name = pod.metadata.name as string;
  const spec = struct(pod, "spec");
  if (pod.metadata.deletionTimestamp !== undefined) throw conflict(binding, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if ((spec.nodeName ?? "") !== "") throw conflict(binding, name, `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  spec.nodeName = target.name;
  if (metadata.annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  const status = struct(pod, "status");
  const others = items(status.conditions).filter(({ type }) => type !== "PodScheduled");
  status.conditions = [...others, { type: "PodScheduled", status: "True", lastTransitionTime: formatTime(now) }];
}

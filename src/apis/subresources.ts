/** Subresources that are actions or connections. */
import { notFound, serviceUnavailable } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import { bindPod } from "./core/pod/binding.ts";
import { evictPod } from "./policy/eviction.ts";

/**
 * Performs the action of a created body. The response is a Status with 201 and Success.
 * @param request the name is empty for `bindings`
 * @throws ApiError when the action is rejected
 */
type CreateAction = (registry: RegistryContext, request: WriteRequest, body: KubeObject) => Promise<void>;

/**
 * Actions by `group/resource/subresource`, and by `group/resource` for resources that are not
 * stored.
 */
export const createActions: Readonly<Record<string, CreateAction>> = {
  "/bindings": bindPod,
  "/pods/binding": bindPod,
  "/pods/eviction": evictPod,
};

/** The target of a connection. */
interface ConnectTarget {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Connections by `resource/subresource` of the core group: to a kubelet, or through this server to
 * a pod.
 */
export const connectSubresources: ReadonlySet<string> = new Set([
  "nodes/proxy",
  "pods/attach",
  "pods/exec",
  "pods/log",
  "pods/portforward",
  "pods/proxy",
  "services/proxy",
]);

/**
 * Rejects a connection through this server to a node.
 * @throws ApiError 404 when the object does not exist, otherwise 503
 */
export async function rejectConnect(
  { catalog }: RegistryContext,
  { resource, namespace, name }: ConnectTarget,
): Promise<void> {
  const store = catalog.findResource("", resource)?.store;
  const entry = store && (await currentEntry(store, store.keyOf(namespace, name)));
  if (entry === undefined) throw notFound({ group: "", resource }, name);
  throw serviceUnavailable("this server has no connection to nodes");
}

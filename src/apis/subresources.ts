/** Subresources that are actions or connections. Connections would need a kubelet. */
import { badRequest, notFound, serviceUnavailable } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import { bindPod } from "./core/pod/binding.ts";
import { checkContainer, checkLogOptions } from "./core/pod/connections.ts";
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
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly query: URLSearchParams;
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

/** Connections to one container of a pod. */
const ofContainers: ReadonlySet<string> = new Set(["attach", "exec", "log"]);

/**
 * Rejects connections that need a kubelet, which this server cannot reach. Errors are upstream's where upstream would
 * reject the connection, too.
 * @returns for the log of a pod without a node, which is empty
 * @throws ApiError 404 when the object does not exist, 400 and 422 for invalid options, otherwise 503
 */
export async function rejectConnect(
  { catalog }: RegistryContext,
  { resource, subresource, namespace, name, query }: ConnectTarget,
): Promise<void> {
  if (subresource === "log") checkLogOptions(query, name);
  const store = catalog.findResource("", resource)?.store;
  const entry = store && (await currentEntry(store, store.keyOf(namespace, name)));
  if (store === undefined || entry === undefined) throw notFound({ group: "", resource }, name);
  if (resource === "services") throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  const object = store.decode(entry);
  if (resource === "pods") {
    if (ofContainers.has(subresource)) checkContainer(object, query.get("container") ?? "");
    if (subresource === "proxy" && (object.status?.podIP ?? "") === "") throw badRequest("address not allowed");
    if ((object.spec?.nodeName ?? "") === "") {
      if (subresource === "log") return;
      throw badRequest(`pod ${name} does not have a host assigned`);
    }
  }
  throw serviceUnavailable("this server has no connection to nodes");
}

/** Subresources that are no part of an object: creating one does something, connecting to one would need a kubelet. */
import { badRequest, notFound, serviceUnavailable } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { bindPod } from "./core/pod/binding.ts";
import { checkContainer, checkLogOptions } from "./core/pod/connections.ts";
import { evictPod } from "./policy/eviction.ts";

/**
 * Does what creating the body means; the answer is a Status: 201, Success.
 * @param request as for the subresource; of `bindings` the name is empty
 * @throws ApiError
 */
export type CreateAction = (registry: RegistryContext, request: WriteRequest, body: KubeObject) => Promise<void>;

/** By `group/resource/subresource`, and `group/resource` for what stores nothing itself. */
export const createActions: Readonly<Record<string, CreateAction>> = {
  "/bindings": bindPod,
  "/pods/binding": bindPod,
  "/pods/eviction": evictPod,
};

/** What a connection would be to. */
export interface ConnectTarget {
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly query: URLSearchParams;
}

/** By `resource/subresource` of the core group: they lead to a kubelet, or through this server to a pod. */
export const connectSubresources: ReadonlySet<string> = new Set([
  "nodes/proxy",
  "pods/attach",
  "pods/exec",
  "pods/log",
  "pods/portforward",
  "pods/proxy",
  "services/proxy",
]);

/** Of `exec`, `attach` and `log` a container is asked. */
const ofContainers: ReadonlySet<string> = new Set(["attach", "exec", "log"]);

/**
 * Refuses what needs a node: this server has none to talk to. Upstream's text where upstream would get no further either.
 * @returns where there is nothing to be had: the log of a pod that has no node
 * @throws ApiError 404 when the object is not there, 400 and 422 when it cannot be done, else 503
 */
export async function rejectConnect(
  { catalog }: RegistryContext,
  { resource, subresource, namespace, name, query }: ConnectTarget,
): Promise<void> {
  if (subresource === "log") checkLogOptions(query, name);
  const store = catalog.findResource("", resource)?.store;
  const entry = (await store?.cache.current())?.get(store?.keyOf(namespace, name) ?? "");
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

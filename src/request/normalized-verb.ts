/** How metrics, traces and the log name what a request does. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/metrics/metrics.go. */
import type { RequestState } from "./context.ts";

const resourceVerbs: Readonly<Record<string, string>> = {
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETECOLLECTION",
  proxy: "CONNECT",
};
const connectSubresources = new Set(["exec", "attach", "portforward", "proxy", "log"]);
const applyTypes = new Set(["application/apply-patch+yaml", "application/apply-patch+cbor"]);

/** The verb of a request for a resource. */
export function resourceVerb({ info, exchange }: Pick<RequestState, "info" | "exchange">): string {
  if (connectSubresources.has(info.subresource) && info.subresource !== "log") return "CONNECT";
  if (info.verb === "patch" && applyTypes.has(exchange.header("content-type") ?? "")) return "APPLY";
  return Object.hasOwn(resourceVerbs, info.verb) ? (resourceVerbs[info.verb] as string) : "OTHER";
}

const methods = new Set(["GET", "PUT", "POST", "PATCH", "DELETE"]);

/** The verb of any request; that of a path that names no resource is its method. */
export function normalizedVerb(context: Pick<RequestState, "info" | "exchange">): string {
  if (context.info.isResourceRequest) return resourceVerb(context);
  const { method } = context.exchange;
  if (method === "HEAD") return "GET";
  return methods.has(method) ? method : "OTHER";
}

/** What a request is about: one object, a namespace, or all of them; empty for other paths. */
export function requestScope({ info }: Pick<RequestState, "info">): "resource" | "namespace" | "cluster" | "" {
  if (info.name !== "" || info.verb === "create") return "resource";
  if (info.namespace !== "") return "namespace";
  return info.isResourceRequest ? "cluster" : "";
}

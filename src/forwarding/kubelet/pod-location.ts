/**
 * Where the kubelet of a pod serves its logs and streams. Source: `LogLocation`, `streamLocation` and
 * `PortForwardLocation` in k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/strategy.go.
 */
import { badRequest, notFound } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { type LogOptions, logParameters, validContainer } from "../../apis/core/pod/connections.ts";
import { encodeQuery, type QueryParameters } from "../../lib/go-net/go-query.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentObject } from "../../registry/current-entry.ts";
import type { RequestState } from "../../request/context.ts";
import { formatAddress } from "../../webhook/connect.ts";
import type { KubeletLocation, KubeletOptions, StreamKind } from "./contract.ts";
import { findKubelet } from "./find-kubelet.ts";

type AddressOptions = Pick<KubeletOptions, "preferredAddressTypes" | "port">;

/**
 * @returns undefined for a pod without a node
 * @throws ApiError 400 if the container is not valid, 404, 500
 */
export async function logLocation(
  context: RequestState,
  registry: RegistryContext,
  log: LogOptions,
  options: AddressOptions,
): Promise<KubeletLocation | undefined> {
  const pod = await getPod(context, registry);
  const container = validContainer(pod, log.container);
  const nodeName = nodeOf(pod);
  if (nodeName === "") return undefined;
  const kubelet = await findKubelet(registry, nodeName, options);
  const path = `/containerLogs/${context.info.namespace}/${context.info.name}/${container}`;
  return { kubelet, path, query: encodeQuery(logParameters(log)) };
}

/** @throws ApiError 400 if the container is not valid or the pod has no node, 404, 500 */
export async function streamLocation(
  context: RequestState,
  registry: RegistryContext,
  kind: StreamKind,
  connection: KubeObject,
  options: AddressOptions,
): Promise<KubeletLocation> {
  const { namespace, name } = context.info;
  const pod = await getPod(context, registry);
  const isOfPod = kind === "portforward";
  const container = isOfPod ? "" : `/${validContainer(pod, (connection.container as string | undefined) ?? "")}`;
  const nodeName = nodeOf(pod);
  if (nodeName === "") throw badRequest(`pod ${name} does not have a host assigned`);
  const kubelet = await findKubelet(registry, nodeName, options);
  const path = `/${isOfPod ? "portForward" : kind}/${namespace}/${name}${container}`;
  return { kubelet, path, query: encodeQuery(streamParameters(connection)) };
}

/** Host and port as in a URL. */
export function hostOf({ kubelet }: KubeletLocation): string {
  return formatAddress(kubelet);
}

/** The path with the query. */
export function pathOf({ path, query }: KubeletLocation): string {
  return query === "" ? path : `${path}?${query}`;
}

export function urlOf(location: KubeletLocation): string {
  return `https://${hostOf(location)}${pathOf(location)}`;
}

/** The path and the headers of a request that this server sends in its own name. */
export function requestOf(location: KubeletLocation): { readonly path: string; readonly headers: readonly string[] } {
  return { path: pathOf(location), headers: ["host", hostOf(location), "user-agent", "Go-http-client/1.1"] };
}

const pods = { group: "", resource: "pods" };

async function getPod({ info }: RequestState, { catalog }: RegistryContext): Promise<KubeObject> {
  const pod = await currentObject(catalog, pods, info.namespace, info.name);
  if (pod === undefined) throw notFound(pods, info.name);
  return pod;
}

function nodeOf({ spec }: KubeObject): string {
  return (spec?.nodeName as string | undefined) ?? "";
}

/** The names of the kubelet for the fields of PodExecOptions and PodAttachOptions. */
const streamNames = { stdin: "input", stdout: "output", stderr: "error", tty: "tty" } as const;

function streamParameters(connection: KubeObject): QueryParameters {
  const flags = Object.entries(streamNames).filter(([field]) => connection[field] === true);
  const ports = (connection.ports as number[] | undefined) ?? [];
  return [
    ...((connection.command as string[] | undefined) ?? []).map((word) => ["command", word] as const),
    ...flags.map(([, name]) => [name, "1"] as const),
    ...(ports.length > 0 ? [["port", ports.join(",")] as const] : []),
  ];
}

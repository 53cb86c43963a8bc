/** Finds the kubelet of a node. Source: k8s.io/kubernetes@v1.36.0/pkg/kubelet/client/kubelet_client.go. */
import { notFound, plainError } from "../../apimachinery/errors.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentObject } from "../../registry/current-entry.ts";
import type { KubeletAddress, KubeletOptions } from "./contract.ts";

interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

/** The feature that a node declares, and the gate of this server. */
const webSockets = "ExtendWebSocketsToKubelet";

/**
 * @param resource of the request, which upstream names in the error
 * @throws ApiError 404 if the node does not exist, 500 if it has no address of a preferred type
 */
export async function findKubelet(
  { catalog, gates }: RegistryContext,
  nodeName: string,
  { preferredAddressTypes, port }: Pick<KubeletOptions, "preferredAddressTypes" | "port">,
  resource: "pods" | "nodes" = "pods",
): Promise<KubeletAddress> {
  const node = await currentObject(catalog, { group: "", resource: "nodes" }, "", nodeName);
  if (node === undefined) throw notFound({ group: "", resource }, nodeName);
  const { status } = node;
  const declared = (status?.daemonEndpoints?.kubeletEndpoint?.Port as number | undefined) ?? 0;
  const features = (status?.declaredFeatures as string[] | undefined) ?? [];
  return {
    host: preferredAddress((status?.addresses as NodeAddress[] | undefined) ?? [], preferredAddressTypes),
    port: declared > 0 ? declared : port,
    servesWebSockets: gates.enabled(webSockets) && features.includes(webSockets),
  };
}

function preferredAddress(addresses: readonly NodeAddress[], types: readonly string[]): string {
  for (const type of types) {
    const found = addresses.find((one) => one.type === type);
    if (found !== undefined) return found.address;
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
  throw plainError(`no preferred addresses found; known addresses: [${known}]`);
}

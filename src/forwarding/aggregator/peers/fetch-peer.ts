/**
 * Fetches what a peer serves. Source: `fetchNewDiscoveryFor` in
 * k8s.io/apiserver@v0.36.0/pkg/util/peerproxy/peer_discovery.go.
 */
import { formatAddress } from "../../../webhook/connect.ts";
import { Connections } from "../../../webhook/connections.ts";
import type { Address } from "../../../webhook/contract.ts";
import { exchange } from "../../../webhook/exchange.ts";
import { callOver } from "../backends.ts";
import {
  DiscoveryError,
  documentBytesMax,
  documentTimeoutMs,
  type GroupDocument,
  parseGroups,
} from "../discovery/documents.ts";
import { type PeerDocument, type PeerObserver, resourceName } from "./contract.ts";
import { peerHeader } from "./peer-header.ts";
import type { ConnectToPeer } from "./peer-transport.ts";

/** The user of servers themselves. */
const user = { name: "system:apiserver", uid: "system:apiserver", groups: ["system:authenticated"] };
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const headers = { accept: `${aggregated};profile=nopeer,${aggregated},application/json`, ...peerHeader };
const noName = { group: "", version: "", resource: "" };

interface FetchOptions {
  readonly connect: ConnectToPeer;
  readonly observer: Pick<PeerObserver, "forwarded">;
  readonly signal: AbortSignal;
}

/** The document of a peer, and why a part is missing. */
interface FetchedPeer {
  readonly document: PeerDocument;
  readonly errors: readonly Error[];
}

/** Fetches the core group and the others; one of both is enough. */
export async function fetchPeer(address: Address, options: FetchOptions): Promise<FetchedPeer> {
  const host = formatAddress(address);
  const open = (signal: AbortSignal): ReturnType<ConnectToPeer> => options.connect(address, signal);
  const connections = new Connections({ origin: `https://${host}`, open, connectionsMax: 1 });
  const groups: GroupDocument[] = [];
  const errors: Error[] = [];
  try {
    for (const path of ["/api", "/apis"])
      await fetchGroups(connections, { host, path }, options).then(
        (found) => groups.push(...found),
        // A document that cannot be decoded is a failure of the peer, too.
        (error: Error) => errors.push(error),
      );
  } finally {
    connections.close();
  }
  return { document: documentOf(groups), errors };
}

async function fetchGroups(
  connections: Connections,
  { host, path }: { readonly host: string; readonly path: string },
  { observer, signal }: FetchOptions,
): Promise<readonly GroupDocument[]> {
  const limits = { timeoutMs: documentTimeoutMs, answerBytesMax: documentBytesMax, signal };
  const answer = await callOver(connections, host, { path, headers, user, ...limits }, exchange);
  observer.forwarded(answer.status, noName);
  if (answer.status !== 200) throw new DiscoveryError(`discovery request failed with status: ${answer.status}`);
  return parseGroups(answer.body);
}

/** The core group is not in the merged document, because it is not one of `/apis`. */
function documentOf(groups: readonly GroupDocument[]): PeerDocument {
  const resources = new Set<string>();
  const named = new Map<string, GroupDocument>();
  for (const one of groups) {
    const { metadata: { name: group = "" } = {}, versions = [] } = one;
    for (const { version, resources: served = [] } of versions)
      for (const { resource } of served) resources.add(resourceName({ group, version, resource }));
    if (group !== "" && !named.has(group)) named.set(group, one);
  }
  return { resources, groups: [...named.values()] };
}

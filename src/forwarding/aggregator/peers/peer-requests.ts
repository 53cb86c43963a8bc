/**
 * Forwards requests for resources that only other servers over the same store serve. Source:
 * k8s.io/apiserver@v0.36.0/pkg/util/peerproxy/peerproxy_handler.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import { serviceUnavailable } from "../../../apimachinery/errors.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import type { PathHandler, RequestState } from "../../../request/context.ts";
import type { RequestInfo } from "../../../request/request-info.ts";
import type { Address } from "../../../webhook/contract.ts";
import { forwardTo } from "../forward-to.ts";
import { failureReason } from "../remote-documents.ts";
import { type PeerObserver, type ReadPeerAddresses, type ResourceName, resourceName } from "./contract.ts";
import type { OpenPeerDocuments } from "./peer-documents.ts";
import { isFromPeer, peerHeader } from "./peer-header.ts";
import type { ConnectToPeer } from "./peer-transport.ts";

interface PeerRequestOptions {
  readonly catalog: Catalog;
  readonly documents: Pick<OpenPeerDocuments, "isSynced" | "current">;
  readonly readAddresses: ReadPeerAddresses;
  readonly connect: ConnectToPeer;
  readonly observer: PeerObserver;
  /** Returns numbers from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Finds requests that a peer serves. */
export interface PeerRequests {
  /** @returns undefined when this server serves the request, or answers it with an error */
  find(context: RequestState): PathHandler | undefined;
  /** Whether only a peer serves the resource of a request. */
  isElsewhere(info: RequestInfo): boolean;
}

/** Creates the functions that find requests for peers. */
export function peerRequests(options: PeerRequestOptions): PeerRequests {
  const { catalog, documents } = options;
  const peersOf = (info: RequestInfo): readonly string[] => {
    if (!info.isResourceRequest || !documents.isSynced || isServed(catalog, info)) return [];
    const name = resourceName(info);
    return [...documents.current()].filter(([, { resources }]) => resources.has(name)).map(([identity]) => identity);
  };
  return {
    find(context) {
      const peers = peersOf(context.info);
      if (peers.length === 0 || isFromPeer(context.exchange)) return undefined;
      return () => forward(context, peers, options);
    },
    isElsewhere: (info) => peersOf(info).length > 0,
  };
}

function isServed(catalog: Catalog, { group, version, resource }: RequestInfo): boolean {
  return catalog.find(group, version, resource)?.version.served === true;
}

/** @throws ApiError 503 when no peer has an address */
async function forward(context: RequestState, peers: readonly string[], options: PeerRequestOptions): Promise<void> {
  const { clock, connect, observer } = options;
  const { group, version, resource } = context.info;
  const name = { group, version, resource };
  const address = await chooseAddress(peers, name, options);
  try {
    await forwardTo(context, {
      address,
      open: (signal) => connect(address, signal),
      user: context.user,
      rejectsRedirects: false,
      clock,
      headers: peerHeader,
    });
  } finally {
    const { status } = context.exchange;
    // Upstream does not see the status of an upgrade, whose response is not written as others are.
    if (status !== 0) observer.forwarded(status === 101 ? 0 : status, name);
  }
}

/** One of the peers at random. @throws ApiError 503 when none has an address */
async function chooseAddress(
  peers: readonly string[],
  name: ResourceName,
  { readAddresses, observer, random, logger }: PeerRequestOptions,
): Promise<Address> {
  let reason = "missing port in address";
  try {
    const known = await readAddresses();
    const found = peers.flatMap((peer) => known.get(peer) ?? []);
    const chosen = found[Math.floor(random() * found.length)];
    if (chosen !== undefined) return chosen;
  } catch (error) {
    reason = failureReason(error);
  }
  logger.error("Failed to find servers that serve the requested resource", { ...name, error: reason });
  observer.notForwarded("endpoint_resolution", name);
  throw serviceUnavailable("Error getting ip and port info of the remote server while proxying");
}

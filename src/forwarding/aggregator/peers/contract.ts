/** The contract of peers: other servers over the same store. Source: KEP-4020. */
import type { Address } from "../../../webhook/contract.ts";
import type { GroupDocument } from "../discovery/documents.ts";

/** Returns the addresses of all servers that run, by identity. @throws errors of the store */
export type ReadPeerAddresses = () => Promise<ReadonlyMap<string, Address>>;

/** What one peer serves, as it reported last. */
export interface PeerDocument {
  /** See {@link resourceName}. */
  readonly resources: ReadonlySet<string>;
  /** All groups but the core group, in the peer's order. */
  readonly groups: readonly GroupDocument[];
}

/** What the peers serve that this server does not learn from the store, by identity. */
export interface PeerDocuments {
  /** Incremented by every change. */
  readonly generation: number;
  current(): ReadonlyMap<string, PeerDocument>;
}

/** Why the documents of peers could not be read. */
export type DiscoveryFailure = "lease_list" | "hostport_resolution" | "fetch_discovery";

/** A group, a version and a resource. */
export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Equal for the same resource at the same version. */
export function resourceName({ group, version, resource }: ResourceName): string {
  return `${group}/${version}/${resource}`;
}

/** Adds the groups of peers to a discovery document. */
export interface PeerGroups {
  /** Incremented by every change. */
  readonly generation: number;
  /** @param own groups of this server, and of the servers of its APIServices, in wire form */
  merge(own: readonly GroupDocument[]): readonly GroupDocument[];
}

/** Counts requests for discovery: without peers, and those with peers for a built document or a new one. */
export type DiscoveryObserver = (event: "nopeer" | "hit" | "miss") => void;

/** Receives what happens with peers. */
export interface PeerObserver {
  /** A peer has answered a request; the code is 0 for upgrades, and the name is empty for its discovery. */
  forwarded(code: number, name: ResourceName): void;
  /** A request could not be sent to a peer. */
  notForwarded(type: "endpoint_resolution" | "proxy_transport", name: ResourceName): void;
  discoveryFailed(type: DiscoveryFailure): void;
}

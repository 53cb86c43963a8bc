/**
 * Keeps what the peers serve: fetched when a server starts, restarts or ends, and again after failures. Source:
 * `syncPeerDiscoveryCache` in k8s.io/apiserver@v0.36.0/pkg/util/peerproxy/peer_discovery.go.
 */
import { type Clock, realClock } from "../../../apimachinery/clock.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import { formatGroupVersion } from "../../../apimachinery/object.ts";
import type { Address } from "../../../webhook/contract.ts";
import type { GroupDocument } from "../discovery/documents.ts";
import { openRefreshes, type Refreshes, type RefreshResult } from "../refreshes.ts";
import { failureReason } from "../remote-documents.ts";
import type { DiscoveryFailure, PeerDocument, PeerDocuments, PeerObserver, ReadPeerAddresses } from "./contract.ts";
import { type ExcludedVersions, followExcludedVersions } from "./excluded-versions.ts";
import { fetchPeer } from "./fetch-peer.ts";
import { followPeerLeases, type PeerLeases } from "./peer-leases.ts";
import type { ConnectToPeer } from "./peer-transport.ts";

/** Peers whose documents are kept, which is far more than a cluster has. */
const peersMax = 64;
/** Upstream does not fetch again without a change. */
const intervalMs = 30 * 60_000;
const firstRetryMs = 500;
const retryMsMax = 60_000;
/** The time between two fetches, however often Leases change. */
const spacingMs = 1_000;

type FollowOptions = Parameters<typeof followPeerLeases>[0] & Parameters<typeof followExcludedVersions>[0];

interface DocumentOptions extends Omit<FollowOptions, "onChange"> {
  readonly readAddresses: ReadPeerAddresses;
  readonly connect: ConnectToPeer;
  readonly observer: PeerObserver;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** {@link PeerDocuments} that are refreshed until they are closed. */
export interface OpenPeerDocuments extends PeerDocuments {
  /** Whether this server knows which others exist, and what not to ask them for. */
  readonly isSynced: boolean;
  close(): Promise<void>;
}

/** Starts to follow the other servers. */
export function openPeerDocuments(options: DocumentOptions): OpenPeerDocuments {
  return new FollowedPeers(options);
}

class FollowedPeers implements OpenPeerDocuments {
  generation = 0;
  readonly #options: DocumentOptions;
  readonly #leases: PeerLeases;
  readonly #excluded: ExcludedVersions;
  readonly #refreshes: Refreshes;
  readonly #ended = new AbortController();
  #fetched: ReadonlyMap<string, PeerDocument> = new Map();
  #filtered: ReadonlyMap<string, PeerDocument> | undefined;
  #nextAt = 0;
  #endSpacing = (): void => {};

  constructor(options: DocumentOptions) {
    this.#options = options;
    const { clock, logger } = options;
    const run = (): Promise<RefreshResult> => this.#refresh();
    this.#refreshes = openRefreshes({ clock, logger, run, concurrency: 1, intervalMs, firstRetryMs, retryMsMax });
    this.#excluded = followExcludedVersions({ ...options, onChange: () => this.#changed() });
    this.#leases = followPeerLeases({ ...options, onChange: () => this.#refreshes.add("peers") });
  }

  get isSynced(): boolean {
    return this.#leases.isSynced && this.#excluded.isSynced;
  }

  current(): ReadonlyMap<string, PeerDocument> {
    this.#filtered ??= new Map([...this.#fetched].map(([id, document]) => [id, without(this.#excluded, document)]));
    return this.#filtered;
  }

  async close(): Promise<void> {
    this.#leases.close();
    this.#excluded.close();
    this.#ended.abort();
    this.#endSpacing();
    await this.#refreshes.close();
  }

  #changed(): void {
    this.#filtered = undefined;
    this.generation += 1;
  }

  async #refresh(): Promise<RefreshResult> {
    await this.#spacing();
    if (this.#ended.signal.aborted) return "gone";
    const found = new Map<string, PeerDocument>();
    let isComplete = true;
    const failed = (type: DiscoveryFailure, identity: string, error: unknown): void => {
      isComplete = false;
      this.#options.observer.discoveryFailed(type);
      this.#options.logger.warn("Could not fetch discovery of peer", { peer: identity, error: failureReason(error) });
    };
    const fetchOne = async ([identity, address]: readonly [string, Address]): Promise<void> => {
      const { document, errors } = await fetchPeer(address, { ...this.#options, signal: this.#ended.signal });
      for (const error of errors) failed("fetch_discovery", identity, error);
      if (document.resources.size > 0 || document.groups.length > 0) found.set(identity, document);
    };
    await Promise.all((await this.#peers(failed)).map(fetchOne));
    if (this.#ended.signal.aborted) return "gone";
    this.#fetched = new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    this.#changed();
    return isComplete ? "current" : "failed";
  }

  /** The peers that have an address: those of Leases that clients have made up have none. */
  async #peers(
    failed: (type: DiscoveryFailure, identity: string, error: unknown) => void,
  ): Promise<(readonly [string, Address])[]> {
    let addresses: ReadonlyMap<string, Address> = new Map();
    try {
      addresses = await this.#options.readAddresses();
    } catch (error) {
      failed("hostport_resolution", "", error);
      return [];
    }
    const peers: (readonly [string, Address])[] = [];
    let missing: string | undefined;
    for (const identity of this.#leases.identities()) {
      const address = addresses.get(identity);
      if (address === undefined) missing = identity;
      else if (peers.length < peersMax) peers.push([identity, address]);
    }
    if (missing !== undefined) failed("hostport_resolution", missing, new Error("missing port in address"));
    return peers;
  }

  async #spacing(): Promise<void> {
    const clock = realClock(this.#options.clock);
    const waitMs = this.#nextAt - clock.now();
    if (waitMs > 0)
      await new Promise<void>((resolve) => {
        const cancel = clock.after(waitMs, resolve);
        this.#endSpacing = () => {
          cancel();
          resolve();
        };
      });
    this.#nextAt = clock.now() + spacingMs;
  }
}

/** Removes what this server learns from the store itself. */
function without(excluded: ExcludedVersions, document: PeerDocument): PeerDocument {
  const resources = new Set([...document.resources].filter((name) => !excluded.has(groupVersionOf(name))));
  if (resources.size === document.resources.size) return document;
  return { resources, groups: document.groups.flatMap((group) => withoutVersions(excluded, group)) };
}

/** @param name see `resourceName` */
function groupVersionOf(name: string): string {
  const [group = "", version = ""] = name.split("/");
  return formatGroupVersion(group, version);
}

function withoutVersions(excluded: ExcludedVersions, group: GroupDocument): GroupDocument[] {
  const { metadata: { name = "" } = {}, versions = [] } = group;
  const rest = versions.filter(({ version }) => !excluded.has(formatGroupVersion(name, version)));
  return rest.length === 0 ? [] : [{ ...group, versions: rest }];
}

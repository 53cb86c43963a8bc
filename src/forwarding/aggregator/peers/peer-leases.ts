/**
 * The Leases by which other servers are known. Any client that can write Leases in kube-system can add some: they name
 * servers, but not where these are. Source: `isValidPeerIdentityLease` in
 * k8s.io/apiserver@v0.36.0/pkg/util/peerproxy/peer_discovery.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import { identityLabel, identityNamespace } from "../../../apimachinery/server-identity.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import type { Entry } from "../../../watch-cache/contract.ts";
import { followCache } from "../../../watch-cache/follow.ts";

interface FollowOptions {
  readonly catalog: Catalog;
  /** The identity of this server, which is no peer. */
  readonly self: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a server starts, restarts or ends. */
  readonly onChange: () => void;
}

/** The identities of other servers. */
export interface PeerLeases {
  /** Whether the existing Leases have been read. */
  readonly isSynced: boolean;
  identities(): Iterable<string>;
  close(): void;
}

/** Follows the Leases of the store. There are none when the kind is not served. */
export function followPeerLeases({ catalog, self, clock, logger, onChange }: FollowOptions): PeerLeases {
  const store = catalog.findServed("coordination.k8s.io", "v1", "leases")?.resource.store;
  /** The holder, which differs for each start of a server, by identity. */
  const holders = new Map<string, string>();
  let isSynced = store === undefined;
  const set = (name: string, holder: string | undefined): void => {
    if (name === self || holders.get(name) === holder) return;
    if (holder === undefined) holders.delete(name);
    else holders.set(name, holder);
    onChange();
  };
  const prefix = store?.keyOf(identityNamespace, "") ?? "";
  const follower =
    store &&
    followCache({
      cache: store.cache,
      prefix,
      clock,
      set: (entry) => set(entry.index.name, holderOf(store, entry)),
      deleted: ({ index }) => set(index.name, undefined),
      knownKeys: () => Array.from(holders.keys(), (name) => prefix + name),
      missing: (key) => set(key.slice(prefix.length), undefined),
      failed: (error) => logger.warn("Failed to list leases of servers", { error: String(error) }),
    });
  void follower?.firstListDone.then(() => {
    isSynced = true;
  });
  return {
    get isSynced() {
      return isSynced;
    },
    identities: () => holders.keys(),
    close: () => follower?.stop(),
  };
}

/** @returns undefined for Leases of other kinds of holders */
function holderOf(store: ResourceStore, entry: Entry): string | undefined {
  const [label, value] = identityLabel;
  return entry.index.labels.get(label) === value ? store.decode(entry).spec?.holderIdentity : undefined;
}

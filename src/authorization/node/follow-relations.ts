/**
 * Keeps NodeRelations up to date with the stored pods, volumes and other objects that name a node.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { type NodeBoundKind, NodeRelations } from "./relations.ts";

interface FollowedRelations {
  /**
   * Filled in the background. The server starts before all objects are read; until then nodes are
   * denied access to them.
   */
  readonly relations: NodeRelations;
  stop(): void;
}

interface Options {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The kinds other than pods whose `spec.nodeName` names a node. Kinds that are not served are
 * skipped.
 */
const nodeBoundKinds: readonly (readonly [kind: NodeBoundKind, group: string, resource: string])[] = [
  ["volumeattachment", "storage.k8s.io", "volumeattachments"],
  ["resourceslice", "resource.k8s.io", "resourceslices"],
  ["podcertificaterequest", "certificates.k8s.io", "podcertificaterequests"],
];

/** Follows the watch caches of the objects that relate to nodes. */
export function followRelations({ catalog, clock, logger }: Options): FollowedRelations {
  const relations = new NodeRelations();
  const follow = (
    group: string,
    resource: string,
    apply: (entry: Entry, store: ResourceStore, deleted: boolean) => void,
  ): Follower | undefined => {
    const store = catalog.findResource(group, resource)?.store;
    if (store === undefined) return undefined;
    const known = new Map<string, Entry>();
    return followCache({
      cache: store.cache,
      prefix: store.form.prefix,
      clock,
      set(entry) {
        known.set(entry.key, entry);
        apply(entry, store, false);
      },
      deleted(entry) {
        known.delete(entry.key);
        apply(entry, store, true);
      },
      knownKeys: () => known.keys(),
      missing(key) {
        const entry = known.get(key) as Entry;
        known.delete(key);
        apply(entry, store, true);
      },
      failed: (error) =>
        logger.warn("Node authorizer could not list objects", {
          resource,
          error: String(error),
        }),
    });
  };
  const followers = [
    follow("", "pods", (entry, store, deleted) => {
      const { namespace, name, fields } = entry.index;
      const isOnNode = !deleted && fields.get("spec.nodeName") !== "";
      relations.setPod(namespace, name, isOnNode ? store.decode(entry) : undefined);
    }),
    follow("", "persistentvolumes", (entry, store, deleted) =>
      relations.setVolume(entry.index.name, deleted ? undefined : store.decode(entry)),
    ),
    ...nodeBoundKinds.map(([kind, group, resource]) =>
      follow(group, resource, (entry, store, deleted) => {
        const { namespace, name } = entry.index;
        relations.setNode(kind, namespace, name, deleted ? "" : (store.decode(entry).spec?.nodeName ?? ""));
      }),
    ),
  ].filter((follower) => follower !== undefined);
  return {
    relations,
    stop() {
      for (const follower of followers) follower.stop();
    },
  };
}

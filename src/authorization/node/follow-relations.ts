/** Keeps the relations of nodes as pods, volumes and what else names a node are stored. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { NodeRelations, type OwnKind } from "./relations.ts";

export interface FollowedRelations {
  /** Grows while what is stored is read: nodes wait for theirs, the start of the server does not. */
  readonly relations: NodeRelations;
  stop(): void;
}

interface Needs {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Those kinds but pods that name their node, and where. Kinds that are not served name none. */
const owned: readonly (readonly [kind: OwnKind, group: string, resource: string])[] = [
  ["volumeattachment", "storage.k8s.io", "volumeattachments"],
  ["resourceslice", "resource.k8s.io", "resourceslices"],
  ["podcertificaterequest", "certificates.k8s.io", "podcertificaterequests"],
];

export function followRelations({ catalog, clock, logger }: Needs): FollowedRelations {
  const relations = new NodeRelations();
  const follow = (
    group: string,
    resource: string,
    take: (entry: Entry, store: ResourceStore, gone: boolean) => void,
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
        take(entry, store, false);
      },
      gone(entry) {
        known.delete(entry.key);
        take(entry, store, true);
      },
      known: () => known.keys(),
      missing(key) {
        const entry = known.get(key) as Entry;
        known.delete(key);
        take(entry, store, true);
      },
      failed: (error) =>
        logger.warn("the node authorizer waits for objects that could not be listed", {
          resource,
          error: String(error),
        }),
    });
  };
  const followers = [
    follow("", "pods", (entry, store, gone) => {
      const { namespace, name, fields } = entry.index;
      const isOnNode = !gone && fields.get("spec.nodeName") !== "";
      relations.setPod(namespace, name, isOnNode ? store.decode(entry) : undefined);
    }),
    follow("", "persistentvolumes", (entry, store, gone) =>
      relations.setVolume(entry.index.name, gone ? undefined : store.decode(entry)),
    ),
    ...owned.map(([kind, group, resource]) =>
      follow(group, resource, (entry, store, gone) => {
        const { namespace, name } = entry.index;
        relations.setOwn(kind, namespace, name, gone ? "" : (store.decode(entry).spec?.nodeName ?? ""));
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

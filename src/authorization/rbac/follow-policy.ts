/** Keeps a policy as the four kinds of RBAC are stored. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { WatchCache } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { UnreadableObjects } from "../../watch-cache/unreadable.ts";
import { type Binding, Policy, type Role, type Subject } from "./policy.ts";
import type { PolicyRule } from "./rule.ts";

export interface FollowedPolicy {
  readonly policy: Policy;
  /** Resolves when all that is stored was read, or could not be: it is then read again after a while, and until then grants nothing. */
  readonly tried: Promise<void>;
  /** Resolves when the policy has everything up to the revision. */
  reached(revision: number): Promise<void>;
  stop(): void;
}

const group = "rbac.authorization.k8s.io";

export function followPolicy({
  catalog,
  clock,
  logger,
}: {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly logger: Logger;
}): FollowedPolicy {
  const policy = new Policy();
  const follow = (
    resource: string,
    take: (key: string, object: KubeObject | undefined) => void,
    keys: () => Iterable<string>,
  ): [Follower, WatchCache][] => {
    const store = catalog.findResource(group, resource)?.store;
    if (store === undefined) return []; // Switched off by --runtime-config: it grants nothing.
    const { prefix } = store.form;
    const follower = followCache({
      cache: store.cache,
      prefix,
      clock,
      set: (entry) => take(entry.key, JSON.parse(entry.json.toString())), // Texts alone are read of it.
      gone: ({ key }) => take(key, undefined),
      *known() {
        for (const key of keys()) if (key.startsWith(prefix)) yield key;
      },
      missing: (key) => take(key, undefined),
      failed: (error) =>
        logger.warn("RBAC does without objects that could not be read", { prefix, error: String(error) }),
      skipsUnreadable: true,
    });
    return [[follower, store.cache]];
  };
  const role = (key: string, object: KubeObject | undefined): void => policy.setRole(key, object && roleOf(object));
  const binding = (key: string, object: KubeObject | undefined): void =>
    policy.setBinding(key, object && bindingOf(object));
  const followers: [Follower, WatchCache][] = [
    ...["clusterroles", "roles"].flatMap((resource) => follow(resource, role, () => policy.roleKeys())),
    ...["clusterrolebindings", "rolebindings"].flatMap((resource) =>
      follow(resource, binding, () => policy.bindingKeys()),
    ),
  ];
  return {
    policy,
    tried: Promise.all(followers.map(([{ tried }]) => tried)).then(() => {}),
    async reached(revision) {
      for (const [follower, cache] of followers) {
        await cache.notOlderThan(revision).catch((error: unknown) => {
          if (!(error instanceof UnreadableObjects)) throw error; // The follower goes on without them.
        });
        while (follower.seen !== undefined && follower.seen < revision) await new Promise(setImmediate);
      }
    },
    stop() {
      for (const [follower] of followers) follower.stop();
    },
  };
}

export function roleOf(object: KubeObject): Role {
  const { name = "", namespace = "" } = object.metadata;
  return { name, namespace, rules: (object.rules as PolicyRule[] | undefined) ?? [] };
}

export function bindingOf(object: KubeObject): Binding {
  const { name = "", namespace = "" } = object.metadata;
  const subjects = ((object.subjects ?? []) as Partial<Subject>[]).map((subject) => ({
    kind: subject.kind ?? "",
    name: subject.name ?? "",
    namespace: subject.namespace ?? "",
  }));
  const { kind = "", name: role = "" } = (object.roleRef ?? {}) as { kind?: string; name?: string };
  return { name, namespace, subjects, roleRef: { kind, name: role } };
}

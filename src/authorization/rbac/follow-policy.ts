/** Keeps a Policy up to date with the stored roles and bindings. */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { Entry, WatchCache } from "../../watch-cache/contract.ts";
import { derivedOnce } from "../../watch-cache/derived-once.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { UnreadableObjects } from "../../watch-cache/unreadable.ts";
import type { PolicyRule } from "../contract.ts";
import { type Binding, Policy, type Role, type Subject } from "./policy.ts";

/** A policy that follows the stored roles and bindings. */
export interface FollowedPolicy {
  readonly policy: Policy;
  /**
   * Resolves after the first read of the stored objects, also when it failed.
   * A failed read is repeated later; until then the objects grant nothing.
   */
  readonly tried: Promise<void>;
  /**
   * Resolves when the policy contains all changes up to the revision, or after some seconds: an old
   * etcd may not report that there are none.
   */
  reached(revision: number): Promise<void>;
  /** Stops following the watch caches. */
  stop(): void;
}

const group = "rbac.authorization.k8s.io";
/** How long changes may take to arrive. */
const reachMs = 3_000;

/** Follows the watch caches of the four RBAC resources. */
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
    apply: (key: string, entry: Entry | undefined) => void,
    keys: () => Iterable<string>,
  ): [Follower, WatchCache][] => {
    const store = catalog.findResource(group, resource)?.store;
    if (store === undefined) return []; // Disabled by --runtime-config.
    const { prefix } = store.form;
    const follower = followCache({
      cache: store.cache,
      prefix,
      clock,
      set: (entry) => apply(entry.key, entry),
      deleted: ({ key }) => apply(key, undefined),
      *knownKeys() {
        for (const key of keys()) if (key.startsWith(prefix)) yield key;
      },
      missing: (key) => apply(key, undefined),
      failed: (error) => logger.warn("RBAC ignores objects that could not be read", { prefix, error: String(error) }),
    });
    return [[follower, store.cache]];
  };
  const role = (key: string, entry: Entry | undefined): void => policy.setRole(key, entry && roleOfEntry(entry));
  const binding = (key: string, entry: Entry | undefined): void =>
    policy.setBinding(key, entry && bindingOfEntry(entry));
  const followers: [Follower, WatchCache][] = [
    ...["clusterroles", "roles"].flatMap((resource) => follow(resource, role, () => policy.roleKeys())),
    ...["clusterrolebindings", "rolebindings"].flatMap((resource) =>
      follow(resource, binding, () => policy.bindingKeys()),
    ),
  ];
  return {
    policy,
    tried: Promise.all(followers.map(([{ firstListDone: tried }]) => tried)).then(() => {}),
    async reached(revision) {
      for (const [follower, cache] of followers) {
        await cache.notOlderThan(revision).catch((error: unknown) => {
          if (!(error instanceof UnreadableObjects)) throw error; // The follower skips unreadable objects.
        });
        const { now } = realClock(clock);
        for (const until = now() + reachMs; now() < until; await new Promise(setImmediate))
          if (follower.delivered === undefined || follower.delivered >= revision) break;
      }
    },
    stop() {
      for (const [follower] of followers) follower.stop();
    },
  };
}

const roleOfEntry = derivedOnce((entry) => roleOf(parse(entry)));
const bindingOfEntry = derivedOnce((entry) => bindingOf(parse(entry)));

/** The policy reads no numbers. */
function parse({ json }: Entry): KubeObject {
  return JSON.parse(json.toString()) as KubeObject;
}

/** Reads a Role or ClusterRole. */
export function roleOf(object: KubeObject): Role {
  const { name = "", namespace = "" } = object.metadata;
  return { name, namespace, rules: (object.rules as PolicyRule[] | undefined) ?? [] };
}

/** Reads a RoleBinding or ClusterRoleBinding. */
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

/**
 * Aggregates ClusterRoles: sets the rules of a role to those of others, selected by label. Sources:
 * Kubernetes docs, Using RBAC Authorization, "Aggregated ClusterRoles";
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/clusterroleaggregation`.
 */

import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import { matchesLabels } from "../lib/selectors/label.ts";
import { type LabelSelectorObject, labelSelectorFromObject } from "../lib/selectors/label-object.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { derivedOnce } from "../watch-cache/derived-once.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";
import { apply } from "./audited-writes.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { writesAs } from "./controller-write.ts";
import { openWorkQueue, type WorkQueue } from "./work-queue.ts";

/** The name of the controller, and of the manager of the rules. */
export const aggregatorName = "clusterrole-aggregation-controller";
const name = aggregatorName;
const writes = writesAs(name);
/** Maximum aggregated roles in the queue; others wait for the next list. */
const rolesMax = 10_000;

/** Creates the controller that fills the rules of aggregated ClusterRoles. */
export function roleAggregation({ registry, logger, queues }: ControllerOptions): Controller {
  const served = (resource: string): Resolved | undefined =>
    registry.catalog.findServed("rbac.authorization.k8s.io", "v1", resource);
  const target = served("clusterroles");
  const store = target?.resource.store;
  // Without bindings this controller is not authorized to write rules that it does not have itself.
  if (target === undefined || store === undefined || served("clusterrolebindings") === undefined)
    return { start() {}, stop: async () => {} };
  const roles = new Map<string, Entry>();
  /** Keys of the aggregated roles. */
  const aggregated = new Set<string>();
  const queue = openQueue({ registry, logger, queues }, { target, store, roles });
  /** Before the first list is complete, rules of roles that it has not yet reported would be removed. */
  let isListed = false;
  const enqueueAll = (): void => {
    if (!isListed) return;
    for (const key of aggregated) queue.add(key);
  };
  const remove = (key: string): void => {
    roles.delete(key);
    aggregated.delete(key);
    enqueueAll();
  };
  let follower: Follower | undefined;
  return {
    start() {
      follower = followCache({
        cache: store.cache,
        prefix: store.form.prefix,
        clock: registry.clock,
        set(entry) {
          roles.set(entry.key, entry);
          if (mayAggregate(entry).is) aggregated.add(entry.key);
          else aggregated.delete(entry.key);
          enqueueAll();
        },
        deleted: ({ key }) => remove(key),
        knownKeys: () => roles.keys(),
        missing: remove,
        relisted: enqueueAll,
        failed: (error) => logger.warn("Role aggregation failed to list roles", { error: String(error) }),
      });
      void follower.firstListDone.then(() => {
        isListed = true;
        enqueueAll();
      });
    },
    async stop() {
      follower?.stop();
      await queue.stop();
    },
  };
}

function openQueue({ registry, logger, queues }: ControllerOptions, from: Parameters<typeof aggregate>[1]): WorkQueue {
  return openWorkQueue({
    registry,
    observer: queues?.("ClusterRoleAggregator"),
    async reconcile(key, deciding) {
      await undefined; // All events of a batch, and all roles of the first list, are read before.
      await aggregate(deciding, from, key);
      return true;
    },
    failed: (key, error) => logger.warn("Failed to aggregate a role, retrying", { key, error: String(error) }),
    concurrency: 1,
    keysMax: rolesMax,
  });
}

/** What aggregation reads of a role. */
interface Role {
  readonly rules: readonly unknown[];
  /** The rules as JSON, whose members are in the order of the schema. */
  readonly texts: readonly string[];
  /** Undefined for a role that is not aggregated. */
  readonly selectors: readonly LabelSelectorObject[] | undefined;
}

/** False only for roles that are not aggregated. */
const mayAggregate = derivedOnce(({ json }: Entry) => ({ is: json.includes('"aggregationRule":{') }));

const readRole = derivedOnce((entry: Entry, store: ResourceStore): Role => {
  const { rules = [], aggregationRule }: KubeObject = store.decode(entry);
  const texts = (rules as unknown[]).map((rule) => JSON.stringify(rule));
  return { rules, texts, selectors: aggregationRule && (aggregationRule.clusterRoleSelectors ?? []) };
});

interface Roles {
  readonly target: Resolved;
  readonly store: ResourceStore;
  /** By key. */
  readonly roles: ReadonlyMap<string, Entry>;
}

async function aggregate(registry: RegistryContext, { target, store, roles }: Roles, key: string): Promise<void> {
  const entry = roles.get(key);
  const role = entry && readRole(entry, store);
  if (entry === undefined || role?.selectors === undefined) return;
  const others = inOrder(roles).filter((other) => other.key !== key);
  const rules = aggregatedRules(
    others.map((other) => ({ labels: other.index.labels, read: () => readRole(other, store) })),
    role.selectors,
  );
  if (rules.size === role.texts.length && [...rules.keys()].every((text, at) => text === role.texts[at])) return;
  const roleName = entry.index.name;
  const intent = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: roleName },
    rules: [...rules.values()],
  };
  const body = Buffer.from(JSON.stringify(intent));
  await apply(registry, {
    ...writes.of(target, "", roleName),
    fieldManager: name,
    body,
    force: true,
    fieldValidation: "Ignore",
  });
}

function inOrder(roles: ReadonlyMap<string, Entry>): Entry[] {
  return [...roles.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** A role of which others have the rules. */
export interface CollectedRole {
  readonly labels: ReadonlyMap<string, string>;
  /** Called if the labels match. */
  read(): Pick<Role, "rules" | "texts">;
}

/**
 * Returns the distinct rules by their JSON: by selector, in the order of the roles.
 * @param roles without the one that gets the rules
 */
export function aggregatedRules(
  roles: readonly CollectedRole[],
  selectors: readonly LabelSelectorObject[],
): ReadonlyMap<string, unknown> {
  const rules = new Map<string, unknown>();
  for (const selector of selectors.map(labelSelectorFromObject)) {
    for (const { labels, read } of roles) {
      if (!matchesLabels(selector, labels)) continue;
      const { rules: own, texts } = read();
      for (const [at, text] of texts.entries()) if (!rules.has(text)) rules.set(text, own[at]);
    }
  }
  return rules;
}

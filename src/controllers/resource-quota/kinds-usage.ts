/** Measures the kinds whose objects use the resources that quotas limit. */

import { addAmounts } from "../../admission/quota/amounts.ts";
import { type CachedClaimRelations, claimRelations } from "../../admission/quota/claim-relations.ts";
import type { Amounts, Evaluator, Evaluators } from "../../admission/quota/contract.ts";
import { createEvaluators } from "../../admission/quota/evaluators.ts";
import type { QuotaLimits } from "../../admission/quota/read-quota.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { servedTarget } from "../served-target.ts";
import { type KindUsage, openKindUsage } from "./kind-usage.ts";

interface KindsUsageOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  replenish(namespace: string): void;
  added(namespace: string): void;
  missed(): void;
}

/** What the objects of a namespace use, of the resources that a quota limits. */
interface Measured {
  /** Only resources of kinds that this server has, and whose objects can be read. */
  readonly usage: Amounts;
  /** Whether all objects could be read. */
  readonly isComplete: boolean;
}

const verbs = ["create", "list", "watch", "delete"];
const claims = "resource.k8s.io/resourceclaims";

/** One follower for each kind that a quota limits. */
export class KindsUsage {
  readonly #options: KindsUsageOptions;
  readonly #relations: CachedClaimRelations;
  readonly #evaluators: Evaluators;
  /** By group and resource. */
  readonly #kinds = new Map<string, KindUsage>();
  #stopped = false;

  constructor(options: KindsUsageOptions) {
    const { catalog, clock, gates } = options.registry;
    this.#options = options;
    this.#relations = claimRelations(catalog);
    this.#evaluators = createEvaluators({ clock, gates, relations: this.#relations });
  }

  /** @param revision the state to measure, or a later one */
  async measure(namespace: string, { hard, scopes }: QuotaLimits, revision: number): Promise<Measured> {
    const usage: Parameters<typeof addAmounts>[0] = new Map();
    let isComplete = true;
    for (const { kind, names } of await this.#kindsOf(hard)) {
      const found = await kind.usageOf(namespace, scopes, revision);
      if (found === undefined) isComplete = false;
      else addAmounts(usage, new Map(names.map((name) => [name, found.get(name) ?? zero])));
    }
    return { usage, isComplete };
  }

  /** Counts all objects again when they are measured next: time can change what pods use. */
  recount(): void {
    for (const kind of this.#kinds.values()) kind.recount();
  }

  /** Forgets the followers of kinds that are not served any more, or otherwise than before. */
  forgetKinds(): void {
    for (const kind of this.#kinds.values()) kind.stop();
    this.#kinds.clear();
  }

  stop(): void {
    this.#stopped = true;
    this.forgetKinds();
  }

  async #kindsOf(hard: Amounts): Promise<readonly { readonly kind: KindUsage; readonly names: readonly string[] }[]> {
    if ([...hard.keys()].some((name) => name.includes("resource.k8s.io") || name.startsWith("requests.")))
      await this.#relations.ready();
    const { catalog } = this.#options.registry;
    return catalog.definitions().flatMap((definition) => {
      const { group, resource } = definition;
      const evaluator = definition.namespaced ? this.#evaluators.of(group, resource) : undefined;
      const names = evaluator === undefined ? [] : [...hard.keys()].filter((name) => evaluator.matches(name));
      if (evaluator === undefined || names.length === 0) return [];
      const store = servedTarget(catalog, definition, verbs)?.resource.store;
      if (store === undefined || this.#stopped) return [];
      return [{ kind: this.#open(`${group}/${resource}`, store, evaluator), names }];
    });
  }

  #open(key: string, store: Parameters<typeof openKindUsage>[0]["store"], evaluator: Evaluator): KindUsage {
    const { registry, logger, replenish, added, missed } = this.#options;
    const existing = this.#kinds.get(key);
    if (existing !== undefined) return existing;
    const kind = openKindUsage({
      ...{ store, evaluator, replenish, added, missed, clock: registry.clock, isRelated: key === claims },
      failed: (error) => logger.warn("Failed to list objects for quotas", { resource: key, error: String(error) }),
    });
    this.#kinds.set(key, kind);
    return kind;
  }
}

const zero = { mantissa: 0n, exponent: 0, format: "DecimalSI" } as const;

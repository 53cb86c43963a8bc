/**
 * The group versions of definitions and remote APIServices. All servers learn them from the store, so
 * they count only as this server knows them: a peer may not have noticed that one was deleted.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/peerproxy/gv_exclusion_manager.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import { formatGroupVersion } from "../../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import { type Follower, followCache } from "../../../watch-cache/follow.ts";
import type { ApiServices, ApiServiceView } from "../contract.ts";

/** How long a group version is excluded after it was deleted. */
const graceMs = 5 * 60_000;

interface FollowOptions {
  readonly catalog: Catalog;
  readonly apiServices: Pick<ApiServices, "remotes" | "onChange">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChange: () => void;
}

/** The excluded group versions. */
export interface ExcludedVersions {
  /** Whether the existing definitions have been read. */
  readonly isSynced: boolean;
  has(groupVersion: string): boolean;
  close(): void;
}

/** Follows the definitions and APIServices of the store. */
export function followExcludedVersions({ catalog, apiServices, ...rest }: FollowOptions): ExcludedVersions {
  const versions = new CountedVersions(rest);
  const report = (old: ApiServiceView | undefined, next: ApiServiceView | undefined): void => {
    const { name } = (next ?? old) as ApiServiceView;
    versions.set(`apiservice/${name}`, next?.service ? [formatGroupVersion(next.group, next.version)] : []);
  };
  const endChanges = apiServices.onChange(report);
  for (const remote of apiServices.remotes()) report(undefined, remote);
  const store = catalog.findServed("apiextensions.k8s.io", "v1", "customresourcedefinitions")?.resource.store;
  const follower = store && followDefinitions(store, versions, rest);
  let isSynced = follower === undefined;
  void follower?.firstListDone.then(() => {
    isSynced = true;
  });
  return {
    get isSynced() {
      return isSynced;
    },
    has: (groupVersion) => versions.has(groupVersion),
    close() {
      endChanges();
      follower?.stop();
      versions.close();
    },
  };
}

function followDefinitions(
  store: ResourceStore,
  versions: CountedVersions,
  { clock, logger }: Pick<FollowOptions, "clock" | "logger">,
): Follower {
  return followCache({
    cache: store.cache,
    prefix: store.form.prefix,
    clock,
    set(entry) {
      const { group = "", versions: all = [] } = store.decode(entry).spec ?? {};
      versions.set(
        entry.key,
        all.map(({ name = "" }: { name?: string }) => formatGroupVersion(group, name)),
      );
    },
    deleted: ({ key }) => versions.set(key, []),
    knownKeys: () => versions.owners().filter((owner) => owner.startsWith(store.form.prefix)),
    missing: (key) => versions.set(key, []),
    failed: (error) => logger.warn("Failed to list definitions", { error: String(error) }),
  });
}

/** Group versions with the objects that have them, and those that lost their last object a short time ago. */
class CountedVersions {
  readonly #options: Pick<FollowOptions, "clock" | "onChange">;
  readonly #byOwner = new Map<string, readonly string[]>();
  readonly #counts = new Map<string, number>();
  /** Ends the time of a deleted one. */
  readonly #deleted = new Map<string, () => void>();

  constructor(options: Pick<FollowOptions, "clock" | "onChange">) {
    this.#options = options;
  }

  has(groupVersion: string): boolean {
    return this.#counts.has(groupVersion) || this.#deleted.has(groupVersion);
  }

  owners(): string[] {
    return [...this.#byOwner.keys()];
  }

  /** Replaces the group versions of an object. */
  set(owner: string, next: readonly string[]): void {
    const old = this.#byOwner.get(owner) ?? [];
    if (old.length === next.length && old.every((one, index) => one === next[index])) return;
    if (next.length === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, next);
    for (const one of next) this.#counts.set(one, (this.#counts.get(one) ?? 0) + 1);
    for (const one of old) this.#release(one);
    this.#options.onChange();
  }

  close(): void {
    for (const cancel of this.#deleted.values()) cancel();
    this.#deleted.clear();
  }

  #release(groupVersion: string): void {
    const count = (this.#counts.get(groupVersion) as number) - 1;
    if (count > 0) return void this.#counts.set(groupVersion, count);
    this.#counts.delete(groupVersion);
    this.#deleted.get(groupVersion)?.();
    const end = (): void => {
      this.#deleted.delete(groupVersion);
      this.#options.onChange();
    };
    this.#deleted.set(groupVersion, this.#options.clock.after(graceMs, end));
  }
}

/** The registered APIServices, in memory, as the watch cache reports them. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { derivedOnce } from "../../watch-cache/derived-once.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import {
  type ApiServiceObserver,
  type ApiServices,
  type ApiServiceView,
  isRemote,
  type RemoteApiService,
} from "./contract.ts";

/** {@link ApiServices} that follow the store until they are closed. */
export interface FollowedApiServices extends ApiServices {
  /** Resolves when the existing APIServices are read, or could not be read. */
  readonly tried: Promise<void>;
  close(): void;
}

interface FollowOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Follows the APIServices of the store. There are none when the kind is not served. */
export function followApiServices({ catalog, clock, logger }: FollowOptions): FollowedApiServices {
  const store = catalog.findServed("apiregistration.k8s.io", "v1", "apiservices")?.resource.store;
  const services = new ApiServiceSet();
  const follower = store && follow(services, store, { clock, logger });
  return Object.assign(services, {
    tried: follower?.firstListDone ?? Promise.resolve(),
    close: () => follower?.stop(),
  });
}

function follow(
  services: ApiServiceSet,
  store: ResourceStore,
  { clock, logger }: Pick<FollowOptions, "clock" | "logger">,
): Follower {
  const { prefix } = store.form;
  const nameOf = (key: string): string => key.slice(prefix.length);
  return followCache({
    cache: store.cache,
    prefix,
    clock,
    set: (entry) => services.set(viewOf(entry, store)),
    deleted: ({ key }) => services.remove(nameOf(key)),
    knownKeys: () => Array.from(services.list(), ({ name }) => store.keyOf("", name)),
    missing: (key) => services.remove(nameOf(key)),
    failed: (error) => logger.warn("Failed to list APIServices", { error: String(error) }),
  });
}

class ApiServiceSet implements ApiServices {
  readonly #byName = new Map<string, ApiServiceView>();
  readonly #observers = new Set<ApiServiceObserver>();
  #sorted: readonly ApiServiceView[] | undefined;
  #remotes: readonly RemoteApiService[] | undefined;
  #remoteCount = 0;
  #generation = 0;

  get generation(): number {
    return this.#generation;
  }

  list(): readonly ApiServiceView[] {
    this.#sorted ??= [...this.#byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  remotes(): readonly RemoteApiService[] {
    this.#remotes ??= this.list().filter(isRemote);
    return this.#remotes;
  }

  get hasRemotes(): boolean {
    return this.#remoteCount > 0;
  }

  get(name: string): ApiServiceView | undefined {
    return this.#byName.get(name);
  }

  find(group: string, version: string): ApiServiceView | undefined {
    return this.get(`${version}.${group}`);
  }

  onChange(run: ApiServiceObserver): () => void {
    this.#observers.add(run);
    return () => void this.#observers.delete(run);
  }

  set(next: ApiServiceView): void {
    const old = this.#byName.get(next.name);
    this.#byName.set(next.name, next);
    this.#changed(old, next);
  }

  remove(name: string): void {
    const old = this.#byName.get(name);
    if (this.#byName.delete(name)) this.#changed(old, undefined);
  }

  #changed(old: ApiServiceView | undefined, next: ApiServiceView | undefined): void {
    this.#sorted = undefined;
    this.#remotes = undefined;
    this.#remoteCount += Number(next !== undefined && isRemote(next)) - Number(old !== undefined && isRemote(old));
    this.#generation += 1;
    for (const observe of this.#observers) observe(old, next);
  }
}

const viewOf = derivedOnce((entry: Entry, store: ResourceStore): ApiServiceView => {
  const { metadata, spec, status }: KubeObject = store.decode(entry);
  const { group = "", version = "", service, caBundle = "", insecureSkipTLSVerify = false } = spec ?? {};
  const { groupPriorityMinimum = 0, versionPriority = 0 } = spec ?? {};
  return {
    name: entry.index.name,
    group,
    version,
    uid: metadata.uid ?? "",
    resourceVersion: String(entry.revision),
    service: service && { namespace: service.namespace ?? "", name: service.name ?? "", port: service.port ?? 443 },
    caBundle: Buffer.from(caBundle, "base64").toString(),
    insecureSkipTlsVerify: insecureSkipTLSVerify,
    groupPriorityMinimum,
    versionPriority,
    isAvailable: isAvailable(status?.conditions ?? []),
  };
});

interface Condition {
  readonly type?: string;
  readonly status?: string;
}

/** The first condition of a type counts, as upstream. */
function isAvailable(conditions: readonly Condition[]): boolean {
  return conditions.find(({ type }) => type === "Available")?.status === "True";
}

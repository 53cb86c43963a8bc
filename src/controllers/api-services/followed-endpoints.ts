/** Follows Services and EndpointSlices for the APIServices that name them. */

import type { ResourceStore } from "../../catalog/contract.ts";
import type { ApiServices } from "../../forwarding/aggregator/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { ControllerOptions } from "../contract.ts";

interface FollowedOptions extends ControllerOptions {
  readonly services: ApiServices;
}

/** Reports APIServices whose Service or endpoints have changed. */
export class FollowedEndpoints {
  readonly #options: FollowedOptions;
  readonly #changed: (name: string) => void;
  #followers: readonly Follower[] | undefined;
  /** APIServices by namespace and name of their Service, at a generation of the APIServices. */
  #byService: { readonly generation: number; readonly names: ReadonlyMap<string, readonly string[]> } | undefined;

  constructor(options: FollowedOptions, changed: (name: string) => void) {
    this.#options = options;
    this.#changed = changed;
  }

  follow(): void {
    if (this.#followers !== undefined) return;
    const { catalog } = this.#options.registry;
    const services = catalog.findResource("", "services")?.store;
    const slices = catalog.findResource("discovery.k8s.io", "endpointslices")?.store;
    const followed = [
      services && this.#followStore(services, ({ index }) => index.name),
      slices && this.#followStore(slices, ({ index }) => index.labels.get("kubernetes.io/service-name")),
    ];
    this.#followers = followed.filter((one) => one !== undefined);
  }

  stop(): void {
    for (const follower of this.#followers ?? []) follower.stop();
    this.#followers = [];
  }

  #followStore({ cache, form }: ResourceStore, serviceOf: (entry: Entry) => string | undefined): Follower {
    const { registry, logger, services } = this.#options;
    const changed = (entry: Entry): void => this.#report(entry.index.namespace, serviceOf(entry) ?? "");
    return followCache({
      cache,
      prefix: form.prefix,
      clock: registry.clock,
      set: changed,
      deleted: changed,
      knownKeys: () => [],
      missing() {},
      relisted: () => {
        for (const { name } of services.remotes()) this.#changed(name);
      },
      failed: (error) => logger.warn("Failed to list the endpoints of APIServices", { error: String(error) }),
    });
  }

  #report(namespace: string, service: string): void {
    for (const name of this.#names().get(`${namespace}/${service}`) ?? []) this.#changed(name);
  }

  #names(): ReadonlyMap<string, readonly string[]> {
    const { services } = this.#options;
    if (this.#byService?.generation !== services.generation) {
      const groups = Map.groupBy(services.remotes(), ({ service }) => `${service.namespace}/${service.name}`);
      const names = new Map([...groups].map(([key, views]) => [key, views.map(({ name }) => name)]));
      this.#byService = { generation: services.generation, names };
    }
    return this.#byService.names;
  }
}

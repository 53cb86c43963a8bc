/** APIServices and their servers in memory, for tests of the merging of documents. */

import type { Logger } from "../../src/apimachinery/logger.ts";
import type {
  ApiServiceObserver,
  ApiServices,
  ApiServiceView,
  Backends,
  RemoteApiService,
} from "../../src/forwarding/aggregator/contract.ts";
import type { ExtensionServer } from "./extension-servers.ts";
import { type ManualClock, manualClock } from "./manual-clock.ts";

/** A request that a server received. */
export interface BackendCall {
  readonly server: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly user: string;
}

export interface StubBackends extends Pick<Backends, "get"> {
  readonly calls: BackendCall[];
  /** The servers by the name of their Service; change them between requests. */
  readonly servers: Record<string, ExtensionServer>;
}

/** A server that hangs times out at once, and a missing one cannot be reached. */
export function stubBackends(servers: Readonly<Record<string, ExtensionServer>>): StubBackends {
  const calls: BackendCall[] = [];
  const current = { ...servers };
  return {
    calls,
    servers: current,
    async get({ service: { name } }, { path, headers = {}, user, answerBytesMax }) {
      calls.push({ server: name, path, headers, user: user.name });
      const answer = current[name]?.(path, headers) ?? "hang";
      if (answer === "hang") throw new Error("context deadline exceeded");
      const body = Buffer.from(answer.body);
      if (body.length > answerBytesMax) throw new Error("the answer is too large");
      const { status, type, etag } = answer;
      return { status, headers: { "content-type": type, etag }, body };
    },
  };
}

export interface StubApiServices extends ApiServices {
  /** Adds or replaces an APIService. */
  put(view: ApiServiceView): void;
  delete(name: string): void;
}

export function stubApiServices(): StubApiServices {
  const views = new Map<string, ApiServiceView>();
  const observers = new Set<ApiServiceObserver>();
  let generation = 0;
  const change = (name: string, next: ApiServiceView | undefined): void => {
    const old = views.get(name);
    if (next === undefined) views.delete(name);
    else views.set(name, next);
    generation += 1;
    for (const run of observers) run(old, next);
  };
  const list = (): ApiServiceView[] => [...views.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    put: (view) => change(view.name, view),
    delete: (name) => change(name, undefined),
    list,
    remotes: () => list().filter((one): one is RemoteApiService => one.service !== undefined),
    get hasRemotes() {
      return this.remotes().length > 0;
    },
    get: (name) => views.get(name),
    find: (group, version) => views.get(`${version}.${group}`),
    get generation() {
      return generation;
    },
    onChange(run) {
      observers.add(run);
      return () => void observers.delete(run);
    },
  };
}

/** @param name such as `v1.example.com` @param server the name of the Service */
export function remoteApiService(name: string, server: string, more: Partial<ApiServiceView> = {}): RemoteApiService {
  const dot = name.indexOf(".");
  return {
    name,
    group: name.slice(dot + 1),
    version: name.slice(0, dot),
    uid: "",
    resourceVersion: "1",
    caBundle: "",
    insecureSkipTlsVerify: true,
    groupPriorityMinimum: 1000,
    versionPriority: 100,
    isAvailable: true,
    ...more,
    service: { namespace: "default", name: server, port: 443 },
  };
}

/** What a component that fetches documents of other servers needs. */
export interface RemoteStubs {
  readonly backends: StubBackends;
  readonly apiServices: StubApiServices;
  readonly clock: ManualClock;
  readonly logger: Logger;
  /** The values of logged warnings, as JSON. */
  readonly warnings: string[];
}

/** @param views the APIServices that exist at the start */
export function remoteStubs(
  servers: Readonly<Record<string, ExtensionServer>>,
  views: readonly ApiServiceView[] = [],
): RemoteStubs {
  const warnings: string[] = [];
  const ignore = (): void => undefined;
  const logger: Logger = {
    info: ignore,
    warn: (_, values) => void warnings.push(JSON.stringify(values)),
    error: ignore,
  };
  const stubs = {
    backends: stubBackends(servers),
    apiServices: stubApiServices(),
    clock: manualClock(),
    logger,
    warnings,
  };
  for (const view of views) stubs.apiServices.put(view);
  return stubs;
}

/**
 * Keeps the discovery documents of other servers: fetched when an APIService changes and every
 * minute. Source: `k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/handler_discovery.go`.
 */
import { isDeepStrictEqual } from "node:util";
import { formatGroupVersion } from "../../../apimachinery/object.ts";
import type { RemoteVersionDiscovery } from "../../../catalog/discovery.ts";
import type { RemoteApiService } from "../contract.ts";
import { openRefreshes, type Refreshes, type RefreshResult } from "../refreshes.ts";
import { failureReason, followRemotes, type RemoteDocumentOptions } from "../remote-documents.ts";
import { ServiceDocuments, serviceKey } from "../service-documents.ts";
import type { RemoteDiscovery } from "./contract.ts";
import { DiscoveryError } from "./documents.ts";
import { fetchDiscovery, type ServiceDocument } from "./fetch-discovery.ts";

/** Documents that are refreshed until they are closed. */
export interface OpenRemoteDiscovery extends RemoteDiscovery {
  close(): Promise<void>;
}

/** Servers that are asked at the same time. */
const concurrency = 2;
const intervalMs = 60_000;
const firstRetryMs = 500;
/** Of the resources of all servers, encoded: twenty times those of all built-in groups. Every client receives them. */
const bytesMax = 8 * 1024 * 1024;

/** Starts to fetch the documents of all remote APIServices. Without any it does nothing. */
export function openRemoteDiscovery(options: RemoteDocumentOptions): OpenRemoteDiscovery {
  return new FetchedDiscovery(options);
}

interface Fetched {
  readonly document: ServiceDocument;
  /** A time before the request. */
  readonly at: number;
}

/** What is known of one APIService. */
interface Tracked {
  /** Documents that were fetched before are too old. It counts steps, not time. */
  dirtyAt: number;
  content: RemoteVersionDiscovery | undefined;
  /** Of its resources, encoded. */
  bytes: number;
}

class FetchedDiscovery implements OpenRemoteDiscovery {
  generation = 0;
  readonly #options: RemoteDocumentOptions;
  /** By group version. */
  readonly #tracked = new Map<string, Tracked>();
  readonly #documents = new ServiceDocuments<Fetched>();
  readonly #refreshes: Refreshes;
  readonly #endChanges: () => void;
  #steps = 0;

  constructor(options: RemoteDocumentOptions) {
    this.#options = options;
    const { clock, logger, apiServices } = options;
    const run = (key: string): Promise<RefreshResult> => this.#refresh(key);
    const times = { intervalMs, firstRetryMs, retryMsMax: intervalMs };
    this.#refreshes = openRefreshes({ clock, logger, run, concurrency, ...times });
    this.#endChanges = followRemotes(apiServices, (key) => this.#markDirty(key));
  }

  find(group: string, version: string): RemoteVersionDiscovery | undefined {
    return this.#tracked.get(formatGroupVersion(group, version))?.content;
  }

  async close(): Promise<void> {
    this.#endChanges();
    await this.#refreshes.close();
  }

  #markDirty(key: string): void {
    const tracked = this.#tracked.get(key) ?? { dirtyAt: 0, content: undefined, bytes: 0 };
    tracked.dirtyAt = ++this.#steps;
    this.#tracked.set(key, tracked);
    this.#refreshes.add(key);
  }

  async #refresh(key: string): Promise<RefreshResult> {
    const [group, version] = key.split("/") as [string, string];
    const tracked = this.#tracked.get(key) as Tracked;
    const view = this.#options.apiServices.find(group, version);
    if (view?.service === undefined) return this.#forget(key, tracked);
    const remote = view as RemoteApiService;
    this.#documents.use(key, remote.service);
    try {
      const { versions } = await this.#currentDocument(remote, tracked);
      this.#accept(tracked, versions.get(key) ?? []);
      tracked.dirtyAt = ++this.#steps; // The next run fetches again.
      return "current";
    } catch (error) {
      const reason = failureReason(error);
      this.#options.logger.warn("Could not fetch discovery document", { apiService: remote.name, error: reason });
      tracked.bytes = 0;
      this.#set(tracked, { resources: [], freshness: "Stale" });
      return "failed";
    }
  }

  /** @returns the kept document of the Service if it is newer than the last change */
  async #currentDocument(remote: RemoteApiService, { dirtyAt }: Tracked): Promise<ServiceDocument> {
    const kept = this.#documents.get(remote.service);
    if (kept !== undefined && kept.at > dirtyAt) return kept.document;
    const at = ++this.#steps;
    const document = await fetchDiscovery(this.#options.backends, remote, {
      previous: kept?.document,
      keeps: (name) => this.#isOf(name, remote.service),
    });
    if (!document.isPartial) this.#documents.set(remote.service, { document, at });
    return document;
  }

  /** Whether an APIService of the group version names the Service. */
  #isOf(groupVersion: string, service: RemoteApiService["service"]): boolean {
    const [group, version] = groupVersion.split("/", 2) as [string, string];
    const found = this.#options.apiServices.find(group, version)?.service;
    return found !== undefined && serviceKey(found) === serviceKey(service);
  }

  /** @throws DiscoveryError when all resources together would have too many bytes */
  #accept(tracked: Tracked, resources: readonly object[]): void {
    const bytes = Buffer.byteLength(JSON.stringify(resources));
    let total = bytes - tracked.bytes;
    for (const one of this.#tracked.values()) total += one.bytes;
    if (total > bytesMax) throw new DiscoveryError(`the documents of all servers have more than ${bytesMax} bytes`);
    tracked.bytes = bytes;
    this.#set(tracked, { resources, freshness: "Current" });
  }

  #set(tracked: Tracked, content: RemoteVersionDiscovery): void {
    if (isDeepStrictEqual(tracked.content, content)) return;
    tracked.content = content;
    this.generation += 1;
  }

  #forget(key: string, tracked: Tracked): RefreshResult {
    this.#tracked.delete(key);
    if (tracked.content !== undefined) this.generation += 1;
    this.#documents.forget(key);
    return "gone";
  }
}

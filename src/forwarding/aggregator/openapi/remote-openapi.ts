/**
 * Keeps the OpenAPI documents of other servers: fetched a second after an APIService changes, and
 * every minute. Source: `k8s.io/kube-aggregator@v0.36.0/pkg/controllers/openapi` and `openapiv3`.
 */
import { formatGroupVersion } from "../../../apimachinery/object.ts";
import type { RemoteApiService } from "../contract.ts";
import { openRefreshes, type Refreshes, type RefreshResult } from "../refreshes.ts";
import { failureReason, followRemotes, type RemoteDocumentOptions } from "../remote-documents.ts";
import { ServiceDocuments, serviceKey } from "../service-documents.ts";
import type { RemoteDocument, RemoteEntry, RemoteOpenApi } from "./contract.ts";
import {
  type DocumentSize,
  expandDocument,
  fetchV2,
  fetchV3Index,
  type KeptDocument,
  OpenApiError,
} from "./fetch-openapi.ts";

/** Documents that are refreshed until they are closed. */
export interface OpenRemoteOpenApi extends RemoteOpenApi {
  close(): Promise<void>;
}

/** Servers that are asked at the same time. Upstream asks one at a time, so that one that hangs delays others. */
const concurrency = 4;
const changeDelayMs = 1_000;
const intervalMs = 60_000;
const retryMsMax = 3_600_000;
/** Of the v2 documents of all servers: a client that asks for the merged document has them all in memory. */
const allMax: DocumentSize = { bytes: 32 * 1024 * 1024, containers: 500_000 };

/** Starts to fetch the documents of all remote APIServices. Without any it does nothing. */
export function openRemoteOpenApi(options: RemoteDocumentOptions): OpenRemoteOpenApi {
  return new FetchedOpenApi(options);
}

/** The last documents of one APIService; a failure keeps them. */
interface Kept {
  v2: KeptDocument | undefined;
  /** Undefined before the first answer, and for servers without v3 documents. */
  v3: ReadonlyMap<string, string> | undefined;
  hasNoV3: boolean;
}

/** What the APIServices of one Service share: equal documents are kept once. */
type Documents = Pick<Kept, "v2" | "v3">;

class FetchedOpenApi implements OpenRemoteOpenApi {
  generation = 0;
  readonly #options: RemoteDocumentOptions;
  /** By group version. */
  readonly #kept = new Map<string, Kept>();
  readonly #shared = new ServiceDocuments<Documents>();
  readonly #refreshes: Refreshes;
  readonly #endChanges: () => void;

  constructor(options: RemoteDocumentOptions) {
    this.#options = options;
    const { clock, logger, apiServices } = options;
    const run = (key: string): Promise<RefreshResult> => this.#refresh(key);
    const times = { intervalMs, firstRetryMs: intervalMs, retryMsMax };
    this.#refreshes = openRefreshes({ clock, logger, run, concurrency, ...times });
    this.#endChanges = followRemotes(apiServices, (key) => {
      this.generation += 1; // Its priority may have changed.
      this.#refreshes.add(key, changeDelayMs);
    });
  }

  documents(): readonly RemoteDocument[] {
    return byPriority(this.#remotes()).flatMap((remote) => {
      const kept = this.#kept.get(keyOf(remote))?.v2;
      return kept === undefined ? [] : [documentOf(remote, kept)];
    });
  }

  entries(): ReadonlyMap<string, RemoteEntry> {
    const found = new Map<string, RemoteEntry>();
    const remotes = byPriority(this.#remotes());
    const pathsOf = ownPaths(remotes);
    /** An index that several APIServices of a Service share is read once: the first one has its paths. */
    const read = new Map<unknown, Set<string>>();
    for (const remote of remotes) {
      const service = serviceKey(remote.service);
      const kept = this.#kept.get(keyOf(remote));
      if (kept?.v3 !== undefined && !isFirst(read, kept.v3, service)) continue;
      const own = pathsOf.get(service) as ReadonlySet<string>;
      for (const [path, entry] of entriesOf(remote, kept)) {
        if (own.has(path) && !found.has(path)) found.set(path, entry);
      }
    }
    return found;
  }

  async close(): Promise<void> {
    this.#endChanges();
    await this.#refreshes.close();
  }

  #remotes(): readonly RemoteApiService[] {
    return this.#options.apiServices.remotes().filter(({ group }) => group !== "");
  }

  async #refresh(key: string): Promise<RefreshResult> {
    const [group, version] = key.split("/") as [string, string];
    const view = this.#options.apiServices.find(group, version);
    if (view?.service === undefined) {
      if (this.#kept.delete(key)) this.generation += 1;
      this.#shared.forget(key);
      return "gone";
    }
    if (!view.isAvailable) return "failed";
    const remote = view as RemoteApiService;
    const kept = this.#kept.get(key) ?? { v2: undefined, v3: undefined, hasNoV3: false };
    this.#kept.set(key, kept);
    this.#shared.use(key, remote.service);
    const results = [
      await this.#try(remote, () => this.#refreshV2(remote, kept)),
      await this.#try(remote, () => this.#refreshV3(remote, kept)),
    ];
    return results.includes(false) ? "failed" : "current";
  }

  async #try(remote: RemoteApiService, refresh: () => Promise<void>): Promise<boolean> {
    try {
      await refresh();
      return true;
    } catch (error) {
      const reason = failureReason(error);
      this.#options.logger.warn("Could not fetch OpenAPI document", { apiService: remote.name, error: reason });
      return false;
    }
  }

  async #refreshV2(remote: RemoteApiService, kept: Kept): Promise<void> {
    const shared = this.#shared.get(remote.service);
    const found = await fetchV2(this.#options.backends, remote, shared?.v2 ?? kept.v2);
    if (found === undefined) return;
    if (found.hash !== kept.v2?.hash) {
      this.#checkSize(kept, found);
      this.generation += 1;
    }
    kept.v2 = found;
    this.#share(remote, { v2: found });
  }

  /** @throws OpenApiError when all documents together would be too large */
  #checkSize(replaced: Kept, added: KeptDocument): void {
    const others = [...this.#kept.values()].filter((one) => one !== replaced).flatMap(({ v2 }) => v2 ?? []);
    const different = [...new Map([...others, added].map((one) => [one.hash, one.size])).values()];
    for (const unit of ["bytes", "containers"] as const) {
      const sum = different.reduce((total, size) => total + size[unit], 0);
      if (sum > allMax[unit])
        throw new OpenApiError(`the documents of all servers have more than ${allMax[unit]} ${unit}`);
    }
  }

  async #refreshV3(remote: RemoteApiService, kept: Kept): Promise<void> {
    const own = ownPaths(this.#remotes()).get(serviceKey(remote.service));
    const found = await fetchV3Index(this.#options.backends, remote, (path) => own?.has(path) === true);
    const hasNoV3 = found === undefined;
    if (hasNoV3 !== kept.hasNoV3 || (found !== undefined && !isSame(found, kept.v3))) this.generation += 1;
    kept.hasNoV3 = hasNoV3;
    const shared = this.#shared.get(remote.service)?.v3;
    kept.v3 = found !== undefined && isSame(found, shared) ? shared : found;
    this.#share(remote, { v3: kept.v3 });
  }

  #share({ service }: RemoteApiService, documents: Partial<Documents>): void {
    this.#shared.set(service, { v2: undefined, v3: undefined, ...this.#shared.get(service), ...documents });
  }
}

/** @returns whether the pair was not seen before */
function isFirst(seen: Map<unknown, Set<string>>, index: unknown, service: string): boolean {
  const services = seen.get(index) ?? new Set();
  seen.set(index, services);
  return services.size < services.add(service).size;
}

/**
 * The documents that the server of a Service can describe: those of its APIServices, whatever else
 * it lists.
 */
function ownPaths(remotes: readonly RemoteApiService[]): ReadonlyMap<string, ReadonlySet<string>> {
  const paths = new Map<string, Set<string>>();
  for (const remote of remotes) {
    const service = serviceKey(remote.service);
    const own = paths.get(service) ?? new Set();
    paths.set(service, own.add(`apis/${keyOf(remote)}`).add(`apis/${remote.group}`));
  }
  return paths;
}

function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string> | undefined): boolean {
  return a.size === b?.size && [...a].every(([path, url]) => b.get(path) === url);
}

function keyOf({ group, version }: RemoteApiService): string {
  return formatGroupVersion(group, version);
}

function documentOf(remote: RemoteApiService, kept: KeptDocument): RemoteDocument {
  return { remote, hash: kept.hash, read: () => expandDocument(kept) };
}

function entriesOf(remote: RemoteApiService, kept: Kept | undefined): [string, RemoteEntry][] {
  const { v2, v3, hasNoV3 } = kept ?? {};
  if (v3 !== undefined)
    return [...v3].map(([path, serverRelativeUrl]) => [path, { remote, serverRelativeUrl, converted: undefined }]);
  if (hasNoV3 !== true || v2 === undefined) return [];
  const path = `apis/${keyOf(remote)}`;
  const converted = documentOf(remote, v2);
  return [[path, { remote, serverRelativeUrl: `/openapi/v3/${path}?hash=${v2.hash}`, converted }]];
}

/**
 * Orders by the highest priority of the group, then by name. Source:
 * `k8s.io/kube-aggregator@v0.36.0/pkg/controllers/openapi/aggregator/priority.go`, which ignores
 * the priorities of versions.
 */
function byPriority(remotes: readonly RemoteApiService[]): readonly RemoteApiService[] {
  const priorities = new Map<string, number>();
  for (const { group, groupPriorityMinimum } of remotes)
    priorities.set(group, Math.max(priorities.get(group) ?? groupPriorityMinimum, groupPriorityMinimum));
  const priorityOf = ({ group }: RemoteApiService): number => priorities.get(group) as number;
  return remotes.toSorted((a, b) => priorityOf(b) - priorityOf(a) || (a.name < b.name ? -1 : 1));
}

/**
 * Fetches the discovery documents of another server. Source:
 * `k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/handler_discovery.go`.
 */
import { formatGroupVersion } from "../../../apimachinery/object.ts";
import type { BackendAnswer, Backends, RemoteApiService } from "../contract.ts";
import { etagOf } from "../remote-documents.ts";
import {
  aggregatedVersions,
  documentBytesMax as answerBytesMax,
  checkContainerCount,
  checkResourceCount,
  DiscoveryError,
  decodeList,
  parseGroups,
  documentTimeoutMs as timeoutMs,
} from "./documents.ts";
import { type LegacyResource, resourcesFromList } from "./resources-from-list.ts";

/** The group versions that a server lists. */
export interface ServiceDocument {
  /** The resources by group version, such as `example.com/v1`; only those that the caller keeps. */
  readonly versions: ReadonlyMap<string, readonly object[]>;
  /** Empty if the server sent none. */
  readonly etag: string;
  /** Whether it has only the requested group version, because the server does not aggregate. */
  readonly isPartial: boolean;
}

interface FetchOptions {
  readonly previous: ServiceDocument | undefined;
  keeps(groupVersion: string): boolean;
}

const accept = aggregatedVersions
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(",");

/**
 * Fetches all group versions of a server, or, from a server without aggregated discovery, the one
 * of the APIService.
 *
 * @param previous the last document of the server, which it may confirm if it has the group version
 * @param keeps whether a group version of the document is kept
 * @throws DiscoveryError for an unusable answer
 * @throws WebhookError without a complete answer
 */
export async function fetchDiscovery(
  backends: Pick<Backends, "get">,
  remote: RemoteApiService,
  { previous, keeps }: FetchOptions,
): Promise<ServiceDocument> {
  const isComplete = previous?.versions.has(formatGroupVersion(remote.group, remote.version)) === true;
  const etag = isComplete ? previous.etag : "";
  const answer = await backends.get(remote, {
    path: "/apis",
    headers: { accept, ...(etag !== "" && { "if-none-match": etag }) },
    user: { name: "system:kube-aggregator", groups: ["system:masters"] },
    timeoutMs,
    answerBytesMax,
  });
  if (answer.status === 304) return previous ?? { versions: new Map(), etag: "", isPartial: false };
  if (answer.status === 503) throw new DiscoveryError("service returned non-success response code: 503");
  if (answer.status !== 200 || !isAggregated(headerOf(answer, "content-type"))) return fetchLegacy(backends, remote);
  return { versions: parseAggregated(answer.body, keeps), etag: etagOf(answer), isPartial: false };
}

function isAggregated(contentType: string): boolean {
  const named = new Map(contentType.split(";").map((part) => part.trim().split("=", 2) as [string, string]));
  return (
    named.get("g") === "apidiscovery.k8s.io" &&
    named.get("as") === "APIGroupDiscoveryList" &&
    aggregatedVersions.includes(named.get("v") ?? "")
  );
}

async function fetchLegacy(backends: Pick<Backends, "get">, remote: RemoteApiService): Promise<ServiceDocument> {
  const groupVersion = formatGroupVersion(remote.group, remote.version);
  const answer = await backends.get(remote, {
    path: `/apis/${groupVersion}`,
    headers: { accept: "application/json" },
    user: { name: "system:kube-aggregator", groups: [] },
    timeoutMs,
    answerBytesMax,
  });
  if (answer.status !== 200) throw new DiscoveryError(`response code ${answer.status} for /apis/${groupVersion}`);
  checkContainerCount(answer.body);
  const list = decodeList(answer.body, "APIResourceList", new Map([["v1", "io.k8s.apimachinery.pkg.apis.meta.v1"]]));
  const resources = resourcesFromList((list.resources ?? []) as readonly LegacyResource[]);
  checkResourceCount(resources);
  return { versions: new Map([[groupVersion, resources]]), etag: "", isPartial: true };
}

function parseAggregated(body: Buffer, keeps: FetchOptions["keeps"]): Map<string, readonly object[]> {
  checkContainerCount(body);
  const found = new Map<string, readonly object[]>();
  for (const { metadata, versions = [] } of parseGroups(body))
    for (const { version, resources = [] } of versions) {
      const name = formatGroupVersion(metadata?.name ?? "", version);
      if (keeps(name)) found.set(name, resources);
    }
  return found;
}

function headerOf({ headers }: BackendAnswer, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

/**
 * Fetches the discovery documents of another server. Source:
 * `k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/handler_discovery.go`.
 */
import { formatGroupVersion } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { peekTypeMeta } from "../../lib/json/parse.ts";
import { decodeDocument } from "../../lib/schema/decode.ts";
import { encodeObject } from "../../lib/schema/encode.ts";
import type { BackendAnswer, Backends, RemoteApiService } from "../contract.ts";
import { etagOf } from "../remote-documents.ts";
import { type LegacyResource, noKind, resourcesFromList } from "./resources-from-list.ts";

/** The group versions that a server lists. */
export interface ServiceDocument {
  /** The resources by group version, such as `example.com/v1`. */
  readonly versions: ReadonlyMap<string, readonly object[]>;
  /** Empty if the server sent none. */
  readonly etag: string;
  /** Whether it has only the requested group version, because the server does not aggregate. */
  readonly isPartial: boolean;
}

/** The server did not send a discovery document. The message says why. */
export class DiscoveryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DiscoveryError";
  }
}

const timeoutMs = 5_000;
/** The document of all built-in groups has a tenth of this. Larger ones are failures. */
const answerBytesMax = 4 * 1024 * 1024;
/** More are failures: every client receives the documents. */
const resourcesMax = 10_000;

const aggregatedVersions = ["v2", "v2beta1"];
const accept = aggregatedVersions
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(",");

/**
 * Fetches all group versions of a server, or, from a server without aggregated discovery, the one
 * of the APIService.
 *
 * @param previous the last document of the server, which it may confirm
 * @throws DiscoveryError for an unusable answer
 * @throws WebhookError without a complete answer
 */
export async function fetchDiscovery(
  backends: Pick<Backends, "get">,
  remote: RemoteApiService,
  previous: ServiceDocument | undefined,
): Promise<ServiceDocument> {
  const etag = previous?.etag ?? "";
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
  return { versions: parseAggregated(answer.body), etag: etagOf(answer), isPartial: false };
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
  const list = decode(answer.body, "APIResourceList", new Map([["v1", "io.k8s.apimachinery.pkg.apis.meta.v1"]]));
  const resources = resourcesFromList((list.resources ?? []) as readonly LegacyResource[]);
  checkCount(resources);
  return { versions: new Map([[groupVersion, resources]]), etag: "", isPartial: true };
}

interface GroupDiscovery {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly { readonly version: string; readonly resources?: readonly Discovered[] }[];
}

interface Discovered {
  readonly responseKind?: object;
  readonly subresources?: readonly { readonly responseKind?: object }[];
}

/** The packages of aggregated discovery by apiVersion. */
const aggregatedPackages: ReadonlyMap<string, string> = new Map(
  aggregatedVersions.map((version) => [`apidiscovery.k8s.io/${version}`, `io.k8s.api.apidiscovery.${version}`]),
);

function parseAggregated(body: Buffer): Map<string, readonly object[]> {
  const list = decode(body, "APIGroupDiscoveryList", aggregatedPackages);
  const found = new Map<string, readonly object[]>();
  for (const { metadata, versions = [] } of (list.items ?? []) as readonly GroupDiscovery[]) {
    for (const { version, resources = [] } of versions) {
      checkCount(resources);
      found.set(formatGroupVersion(metadata?.name ?? "", version), resources.map(withResponseKinds));
    }
  }
  return found;
}

/** Old clients fail without kinds. */
function withResponseKinds(resource: Discovered): object {
  const { responseKind = noKind, subresources } = resource;
  return {
    ...resource,
    responseKind,
    ...(subresources && {
      subresources: subresources.map((one) => ({ ...one, responseKind: one.responseKind ?? noKind })),
    }),
  };
}

function checkCount(resources: readonly unknown[]): void {
  if (resources.length > resourcesMax) throw new DiscoveryError(`more than ${resourcesMax} resources`);
}

/**
 * Decodes a list of a server, whose kind and apiVersion may be missing.
 *
 * @param packages of the kind by apiVersion; the first one is the default
 * @returns the object in wire form, without unknown fields
 */
function decode(body: Buffer, kind: string, packages: ReadonlyMap<string, string>): Record<string, unknown> {
  const sent = peekTypeMeta(body);
  const [standard] = packages.keys();
  const found = packages.get(sent.apiVersion || (standard as string));
  if (found === undefined || (sent.kind || kind) !== kind)
    throw new DiscoveryError(`expected ${kind}, got ${sent.apiVersion} ${sent.kind}`.slice(0, errorLengthMax));
  const schema = builtinSchema(`${found}.${kind}`);
  return JSON.parse(encodeObject(decodeDocument(sent.document, schema).object, schema).json.toString());
}

const errorLengthMax = 1024;

function headerOf({ headers }: BackendAnswer, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

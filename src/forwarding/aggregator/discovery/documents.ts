/** Reads discovery documents that other servers have sent. */
import { builtinSchema } from "../../../catalog/builtin-schemas.ts";
import { countContainers } from "../../../lib/json/count-containers.ts";
import { peekTypeMeta } from "../../../lib/json/parse.ts";
import { decodeDocument } from "../../../lib/schema/decode.ts";
import { encodeObject } from "../../../lib/schema/encode.ts";
import { noKind } from "./resources-from-list.ts";

/** The server did not send a discovery document. The message says why. */
export class DiscoveryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DiscoveryError";
  }
}

/** The limit of a request for a document. */
export const documentTimeoutMs = 5_000;
/** The document of all built-in groups has a tenth of this. Larger ones are failures. */
export const documentBytesMax = 4 * 1024 * 1024;
/** More are failures: every client receives the documents. */
const resourcesMax = 10_000;
/** Objects and lists of a document; a million of them fit in its bytes. That of all built-in groups has 2,000. */
const containersMax = 50_000;
const errorLengthMax = 1024;

/** The versions of aggregated discovery, the preferred one first. */
export const aggregatedVersions = ["v2", "v2beta1"];

/** An APIGroupDiscovery in its wire form. */
export interface GroupDocument {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly VersionDocument[];
}

/** An APIVersionDiscovery in its wire form. */
export interface VersionDocument {
  readonly version: string;
  readonly resources?: readonly ResourceDocument[];
  readonly freshness?: string;
}

/** An APIResourceDiscovery in its wire form. */
export interface ResourceDocument {
  readonly resource: string;
  readonly responseKind?: object;
  readonly verbs?: readonly string[];
  readonly subresources?: readonly SubresourceDocument[];
}

/** An APISubresourceDiscovery in its wire form. */
interface SubresourceDocument {
  readonly subresource: string;
  readonly responseKind?: object;
}

/** The packages of aggregated discovery by apiVersion. */
const aggregatedPackages: ReadonlyMap<string, string> = new Map(
  aggregatedVersions.map((version) => [`apidiscovery.k8s.io/${version}`, `io.k8s.api.apidiscovery.${version}`]),
);

/**
 * Parses an APIGroupDiscoveryList.
 * @throws DiscoveryError, or an error of the decoder, for any other document
 */
export function parseGroups(body: Buffer): readonly GroupDocument[] {
  const list = decodeList(body, "APIGroupDiscoveryList", aggregatedPackages);
  return ((list.items ?? []) as readonly GroupDocument[]).map(({ versions = [], ...rest }) => ({
    ...rest,
    versions: versions.map((version) => {
      const { resources } = version;
      checkResourceCount(resources ?? []);
      return { ...version, ...(resources && { resources: resources.map(withResponseKinds) }) };
    }),
  }));
}

/** Old clients fail without kinds. */
function withResponseKinds(resource: ResourceDocument): ResourceDocument {
  const { responseKind = noKind, subresources } = resource;
  return {
    ...resource,
    responseKind,
    ...(subresources && {
      subresources: subresources.map((one) => ({ ...one, responseKind: one.responseKind ?? noKind })),
    }),
  };
}

/** @throws DiscoveryError when there are too many */
export function checkResourceCount(resources: readonly unknown[]): void {
  if (resources.length > resourcesMax) throw new DiscoveryError(`more than ${resourcesMax} resources`);
}

/** @throws DiscoveryError when a document of another server would be large in memory */
export function checkContainerCount(body: Buffer): void {
  if (countContainers(body) > containersMax) throw new DiscoveryError(`more than ${containersMax} objects and lists`);
}

/**
 * Decodes a list of a server, whose kind and apiVersion may be missing.
 *
 * @param packages of the kind by apiVersion; the first one is the default
 * @returns the object in wire form, without unknown fields
 * @throws DiscoveryError, or an error of the decoder, for any other document
 */
export function decodeList(body: Buffer, kind: string, packages: ReadonlyMap<string, string>): Record<string, unknown> {
  const sent = peekTypeMeta(body);
  const [standard] = packages.keys();
  const found = packages.get(sent.apiVersion || (standard as string));
  if (found === undefined || (sent.kind || kind) !== kind)
    throw new DiscoveryError(`expected ${kind}, got ${sent.apiVersion} ${sent.kind}`.slice(0, errorLengthMax));
  const schema = builtinSchema(`${found}.${kind}`);
  return JSON.parse(encodeObject(decodeDocument(sent.document, schema).object, schema).json.toString());
}

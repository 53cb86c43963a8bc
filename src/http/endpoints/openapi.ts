/**
 * `/openapi/v2`, `/openapi/v3` and the documents of `/openapi/v3/…`. Headers and redirects follow
 * k8s.io/kube-openapi.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { defaultVersion, type EffectiveVersion, formatRelease } from "../../apimachinery/effective-version.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { readResourcesTable } from "../../catalog/resources-table.ts";
import type { RemoteApiService } from "../../forwarding/aggregator/contract.ts";
import type { RemoteOpenApi } from "../../forwarding/aggregator/openapi/contract.ts";
import { parseAccept } from "../../lib/media-type/accept.ts";
import { type Descriptions, loadDescriptions } from "../../openapi/descriptions.ts";
import { type DocumentSource, type Encoding, encodeV2, encodeV3 } from "../../openapi/documents.ts";
import { joinedHash } from "../../openapi/part-hash.ts";
import { answerHeaders, send } from "../../request/answer.ts";
import type { RequestContext } from "../contract.ts";
import { createDocumentCache, type Document } from "./document-cache.ts";
import {
  currentSurface,
  type FoundV3,
  findV3,
  indexOf,
  readOthers,
  relativeUrl,
  type Surface,
} from "./openapi-surface.ts";

/** The dependencies of OpenAPI documents. */
interface OpenApiDependencies {
  readonly catalog: Catalog;
  /** The emulated one is that of the documents. */
  readonly version?: EffectiveVersion;
  /** Whether CBOR is served; false by default. */
  readonly cbor?: boolean;
  /** Whether enums are included; true by default. */
  readonly enums?: boolean;
  /** Whether the OpenID paths are included; false by default. */
  readonly issuer?: boolean;
  /** Loads the descriptions; by default those of the installed client. */
  readonly loadDescriptions?: () => Promise<Descriptions>;
  /** The documents of other servers. */
  readonly remote?: RemoteDocuments | undefined;
}

interface RemoteDocuments extends RemoteOpenApi {
  /** Answers a request with the response of the server of an APIService. */
  forward(context: RequestContext, remote: RemoteApiService): Promise<void>;
}

/** The handlers of OpenAPI documents. */
export interface OpenApi {
  /** `/openapi/v2` */
  v2(context: RequestContext): Promise<void>;
  /** `/openapi/v3` and below. */
  v3(context: RequestContext): Promise<void>;
}

const v2ProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const v3ProtobufType = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
/** By media type in Accept; the first is used for `*`. */
const v2Types: ReadonlyMap<string, Encoding> = new Map([
  ["application/json", "json"],
  ["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "protobuf"],
  [v2ProtobufType, "protobuf"],
]);
const v3Types: ReadonlyMap<string, Encoding> = new Map([
  ["application/json", "json"],
  [v3ProtobufType, "protobuf"],
  ["application/com.github.proto-openapi.spec.v3@v1.0+protobuf", "protobuf"],
]);

/** The documents of all built-in groups take about two megabytes. */
const documentBytesMax = 32 * 1024 * 1024;

const expand = promisify(gunzip);

/** Creates the handlers. */
export function createOpenApi(dependencies: OpenApiDependencies): OpenApi {
  const {
    catalog,
    version = defaultVersion,
    cbor = false,
    enums = true,
    issuer = false,
    loadDescriptions: load = loadDescriptions,
    remote,
  } = dependencies;
  const settings = { release: formatRelease(version.emulated), cbor, enums, issuer };
  const texts = shared(load);
  const surface = currentSurface(catalog, settings, remote);
  const { v2Of, v3Of } = encodedDocuments(surface, async () => ({
    ...settings,
    descriptions: await texts(),
    commonQuery: readResourcesTable().commonQuery,
  }));

  return {
    async v2(context) {
      const encoding = negotiateEncoding(context, v2Types);
      context.headers.vary = ["Accept-Encoding", "Accept"];
      if (encoding === undefined) return notAcceptable(context);
      const contentType = encoding === "json" ? "application/json" : v2ProtobufType;
      await sendDocument(context, { etag: v2Tag(surface().hash), contentType }, () => v2Of(encoding));
    },
    async v3(context) {
      const path = context.info.path.replace(/^\/openapi\/v3\/?/, "");
      const served = surface();
      if (context.info.path === "/openapi/v3") return sendIndex(context, served);
      const entry = served.entries.get(path);
      if (entry !== undefined && entry.converted === undefined) return remote?.forward(context, entry.remote);
      const found = findV3(served, path);
      // Without a body, as upstream's aggregator.
      if (found === undefined) return context.exchange.respond(404, answerHeaders(context));
      context.headers.vary = "Accept";
      const encoding = negotiateEncoding(context, v3Types);
      if (encoding === undefined) return notAcceptable(context);
      const hash = context.info.query.get("hash") ?? "";
      if (hash !== "" && hash !== found.hash) return redirect(context, relativeUrl(path, found.hash));
      if (hash !== "") {
        context.headers["cache-control"] = "public, immutable";
        context.headers.expires = new Date(context.receivedAt + yearMs).toUTCString();
      }
      const contentType = encoding === "json" ? "application/json" : v3ProtobufType;
      await sendDocument(context, { etag: found.hash, contentType }, async () => ({
        document: await v3Of(found, encoding),
        etag: found.hash,
      }));
    },
  };
}

interface EncodedDocuments {
  v2Of(encoding: Encoding): Promise<Made>;
  v3Of(found: FoundV3, encoding: Encoding): Promise<Document>;
}

/** Encodes documents at the first request. */
function encodedDocuments(surface: () => Surface, source: () => Promise<DocumentSource>): EncodedDocuments {
  const documents = createDocumentCache(documentBytesMax);
  let lastBuild: Promise<unknown> = Promise.resolve();
  /**
   * The v2 document of the whole API is large: one is encoded at a time, of the generation that is
   * current then.
   */
  const v2Of = async (encoding: Encoding): Promise<Made> => {
    const made = async (): Promise<Made> => {
      const { groups, others, hash } = surface();
      const document = await documents.get(v2Key(hash, encoding), async () =>
        encodeV2(groups, await source(), encoding, await readOthers(others)),
      );
      return { document, etag: v2Tag(hash) };
    };
    if (documents.has(v2Key(surface().hash, encoding))) return made();
    const building = lastBuild.then(made);
    lastBuild = building.catch(() => undefined); // The failure is reported to the requests that wait for this build.
    return building;
  };
  const v3Of = ({ content, hash }: FoundV3, encoding: Encoding): Promise<Document> =>
    documents.get(`v3 ${encoding} ${hash}`, async () =>
      "read" in content
        ? (await import("../../openapi/converted-document.ts")).encodeConverted(await content.read(), encoding)
        : encodeV3(content, await source(), encoding),
    );
  return { v2Of, v3Of };
}

/** A document, and the entity tag of its content. */
interface Made {
  readonly document: Document;
  readonly etag: string;
}

function v2Key(hash: string, encoding: Encoding): string {
  return `v2 ${encoding} ${hash}`;
}

function v2Tag(hash: string): string {
  return joinedHash([hash, "v2"]);
}

/** Shares the result of `load` until it is garbage-collected. */
function shared<T extends object>(load: () => Promise<T>): () => Promise<T> {
  let kept: WeakRef<T> | undefined;
  let loading: Promise<T> | undefined;
  return async () => {
    const existing = kept?.deref();
    if (existing !== undefined) return existing;
    loading ??= load().finally(() => {
      loading = undefined;
    });
    const loaded = await loading;
    kept = new WeakRef(loaded);
    return loaded;
  };
}

const yearMs = 365 * 24 * 60 * 60 * 1000;

function sendIndex(context: RequestContext, surface: Surface): void {
  const { indexHash: etag, changedAt } = surface;
  if (hasTag(context, etag) || isUnchangedSince(context, changedAt)) return answerUnchanged(context, etag);
  setValidators(context, etag, changedAt);
  send(context, 200, "text/plain; charset=utf-8", Buffer.from(JSON.stringify(indexOf(surface))));
}

/** @returns undefined when no accepted type is supported */
function negotiateEncoding({ exchange }: RequestContext, types: ReadonlyMap<string, Encoding>): Encoding | undefined {
  for (const { type } of parseAccept(exchange.header("accept") || "*/*")) {
    if (type === "*/*" || type === "application/*") return "json";
    const encoding = types.get(type);
    if (encoding !== undefined) return encoding;
  }
  return undefined;
}

/**
 * Sends a document unless the client has it.
 * @param now the entity tag of the current content, with which no document is encoded
 * @param make may be slow, and return a newer document
 */
async function sendDocument(
  context: RequestContext,
  now: { etag: string; contentType: string },
  make: () => Promise<Made>,
): Promise<void> {
  if (hasTag(context, now.etag)) return answerUnchanged(context, now.etag);
  const { document, etag } = await make();
  if (isUnchangedSince(context, document.madeAt)) return answerUnchanged(context, etag);
  setValidators(context, etag, document.madeAt);
  if (!acceptsGzip(context)) return send(context, 200, now.contentType, await expand(document.gzipped));
  context.headers["content-encoding"] = "gzip";
  context.headers.vary = ["Accept-Encoding", "Accept"];
  send(context, 200, now.contentType, document.gzipped);
}

function setValidators(context: RequestContext, etag: string, madeAt: number): void {
  context.headers.etag = `"${etag}"`;
  context.headers["last-modified"] = new Date(madeAt).toUTCString();
}

function answerUnchanged(context: RequestContext, etag: string): void {
  context.headers.etag = `"${etag}"`;
  const { "content-type": _, ...headers } = answerHeaders(context, "");
  context.exchange.respond(304, headers);
}

function hasTag({ exchange }: RequestContext, etag: string): boolean {
  const tags = exchange.header("if-none-match")?.split(",") ?? [];
  return tags.some((one) => one.trim().replace(/^W\//, "") === `"${etag}"` || one.trim() === "*");
}

/** The date is checked only without a tag. Source: Go's http.ServeContent. */
function isUnchangedSince({ exchange }: RequestContext, madeAt: number): boolean {
  if (exchange.header("if-none-match") !== undefined) return false;
  return Math.floor(madeAt / 1000) * 1000 <= Date.parse(exchange.header("if-modified-since") ?? "");
}

function acceptsGzip({ exchange }: RequestContext): boolean {
  const offered = exchange.header("accept-encoding") ?? "";
  return offered.split(",").some((one) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one));
}

function redirect(context: RequestContext, url: string): void {
  context.headers.location = url;
  send(context, 301, "text/html; charset=utf-8", Buffer.from(`<a href="${url}">Moved Permanently</a>.\n\n`));
}

function notAcceptable(context: RequestContext): void {
  const { "content-type": _, ...headers } = answerHeaders(context, "");
  context.exchange.respond(406, headers);
}

/** `/openapi/v2`, `/openapi/v3` and the documents of `/openapi/v3/…`. Headers and redirects are kube-openapi's. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Catalog } from "../../resource/contract.ts";
import { servedGroups } from "../../resource/discovery.ts";
import { type Descriptions, loadDescriptions } from "../../resource/openapi/descriptions.ts";
import { buildV3, type DocumentSource, type Encoding, encodeV2, encodeV3, type Part, partsOf } from "../../resource/openapi/documents.ts";
import { readResourcesTable } from "../../resource/resources-table.ts";
import type { RequestContext } from "../contract.ts";
import { parseAccept } from "../representation/negotiate.ts";
import { answerHeaders, send } from "../respond.ts";
import { apiRelease } from "./version.ts";

export interface OpenApiDependencies {
  readonly catalog: Catalog;
  /** Texts for the documents; by default those of the installed client. Loaded for a build and let go after it. */
  readonly loadDescriptions?: () => Promise<Descriptions>;
}

export interface OpenApi {
  /** `/openapi/v2` */
  v2(context: RequestContext): Promise<void>;
  /** `/openapi/v3` and below. */
  v3(context: RequestContext): Promise<void>;
}

/** An encoded document. Only the compressed form is kept: a tenth of the size, and what nearly every client asks for. */
interface Document {
  readonly gzipped: Buffer;
  readonly etag: string;
  readonly madeAt: string;
}

/** Documents of one state of the catalogue, each made when first asked for. */
interface Documents {
  readonly generation: number;
  readonly v2: Map<Encoding, Promise<Document>>;
  v3: Promise<ReadonlyMap<string, GroupDocument>> | undefined;
  index: Promise<Document> | undefined;
}

interface GroupDocument {
  /** What it was made of; while that stays the same the document is used again. */
  readonly part: Part;
  readonly json: Document;
  protobuf: Promise<Document> | undefined;
}

const v2ProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const v3ProtobufType = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
/** By what may stand in Accept; the first is what `*` gets. */
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

const compress = promisify(gzip);
const expand = promisify(gunzip);

export function createOpenApi({ catalog, loadDescriptions: load = loadDescriptions }: OpenApiDependencies): OpenApi {
  let current = emptyDocuments(-1);
  let lastGroups: ReadonlyMap<string, GroupDocument> = new Map();

  const documents = (): Documents => {
    if (current.generation !== catalog.generation) current = emptyDocuments(catalog.generation);
    return current;
  };
  const source = async (): Promise<DocumentSource> => ({
    descriptions: await load(),
    commonQuery: readResourcesTable().commonQuery,
    release: apiRelease.gitVersion,
  });
  const buildGroups = async (): Promise<ReadonlyMap<string, GroupDocument>> => {
    const groups = new Map<string, GroupDocument>();
    let made: DocumentSource | undefined;
    for (const part of partsOf(servedGroups(catalog.definitions()))) {
      const before = lastGroups.get(part.name);
      if (before !== undefined && sameResources(before.part, part)) {
        groups.set(part.name, before);
        continue;
      }
      made ??= await source();
      groups.set(part.name, { part, json: await pack(encodeV3(await buildV3(part, made), "json")), protobuf: undefined });
    }
    lastGroups = groups;
    return groups;
  };
  const groupsOf = (all: Documents): Promise<ReadonlyMap<string, GroupDocument>> => {
    all.v3 ??= forgetFailure(buildGroups(), () => {
      all.v3 = undefined;
    });
    return all.v3;
  };
  const indexOf = (all: Documents): Promise<Document> => {
    all.index ??= forgetFailure(groupsOf(all).then(packIndex), () => {
      all.index = undefined;
    });
    return all.index;
  };
  const v2Of = (all: Documents, encoding: Encoding): Promise<Document> => {
    const known = all.v2.get(encoding);
    if (known !== undefined) return known;
    const building = source().then(async (made) => pack(await encodeV2(servedGroups(catalog.definitions()), made, encoding)));
    all.v2.set(
      encoding,
      forgetFailure(building, () => all.v2.delete(encoding)),
    );
    return building;
  };

  return {
    async v2(context) {
      const encoding = negotiateEncoding(context, v2Types);
      context.headers.vary = ["Accept-Encoding", "Accept"];
      if (encoding === undefined) return notAcceptable(context);
      await sendDocument(context, await v2Of(documents(), encoding), encoding === "json" ? "application/json" : v2ProtobufType);
    },
    async v3(context) {
      const path = context.info.path.replace(/^\/openapi\/v3\/?/, "").replace(/\/$/, "");
      if (path === "") return sendDocument(context, await indexOf(documents()), "application/json");
      const found = (await groupsOf(documents())).get(path);
      // Upstream answers an unknown group with nothing at all.
      if (found === undefined) return context.exchange.respond(200, { "audit-id": context.auditId, "cache-control": "no-cache, private" });
      context.headers.vary = "Accept";
      const encoding = negotiateEncoding(context, v3Types);
      if (encoding === undefined) return notAcceptable(context);
      const hash = context.info.query.get("hash") ?? "";
      if (hash !== "" && hash !== found.json.etag) return redirect(context, relativeUrl(path, found.json));
      if (hash !== "") {
        context.headers["cache-control"] = "public, immutable";
        context.headers.expires = new Date(context.receivedAt + yearMs).toUTCString();
      }
      if (encoding === "json") return sendDocument(context, found.json, "application/json");
      found.protobuf ??= forgetFailure(packProtobuf(found.json), () => {
        found.protobuf = undefined;
      });
      await sendDocument(context, await found.protobuf, v3ProtobufType);
    },
  };
}

const yearMs = 365 * 24 * 60 * 60 * 1000;

function emptyDocuments(generation: number): Documents {
  return { generation, v2: new Map(), v3: undefined, index: undefined };
}

/** A build that failed is tried again by the next request. */
function forgetFailure<T>(building: Promise<T>, forget: () => void): Promise<T> {
  building.catch(forget);
  return building;
}

function sameResources(a: Part, b: Part): boolean {
  return a.resources.length === b.resources.length && a.resources.every(({ definition }, index) => definition === b.resources[index]?.definition);
}

async function pack(bytes: Buffer, etag = hashOf(bytes)): Promise<Document> {
  return { gzipped: await compress(bytes), etag, madeAt: new Date().toUTCString() };
}

function hashOf(bytes: Buffer): string {
  return createHash("sha512").update(bytes).digest("hex").toUpperCase();
}

function packIndex(groups: ReadonlyMap<string, GroupDocument>): Promise<Document> {
  const paths = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, { json }]) => [path, { serverRelativeURL: relativeUrl(path, json) }]);
  return pack(Buffer.from(JSON.stringify({ paths: Object.fromEntries(paths) })));
}

/** Both encodings go by the hash of the JSON, since one URL names both. */
async function packProtobuf(json: Document): Promise<Document> {
  return pack(encodeV3(JSON.parse((await expand(json.gzipped)).toString()), "protobuf"), json.etag);
}

function relativeUrl(path: string, { etag }: Document): string {
  return `/openapi/v3/${path}?hash=${etag}`;
}

/** @returns undefined when nothing that is accepted can be made */
function negotiateEncoding({ exchange }: RequestContext, types: ReadonlyMap<string, Encoding>): Encoding | undefined {
  for (const { type } of parseAccept(exchange.header("accept") || "*/*")) {
    if (type === "*/*" || type === "application/*") return "json";
    const encoding = types.get(type);
    if (encoding !== undefined) return encoding;
  }
  return undefined;
}

async function sendDocument(context: RequestContext, { gzipped, etag, madeAt }: Document, contentType: string): Promise<void> {
  context.headers.etag = `"${etag}"`;
  context.headers["last-modified"] = madeAt;
  if (matches(context.exchange.header("if-none-match"), etag)) {
    const { "content-type": _, ...headers } = answerHeaders(context, contentType);
    return context.exchange.respond(304, headers);
  }
  if (!acceptsGzip(context)) return send(context, 200, contentType, await expand(gzipped));
  context.headers["content-encoding"] = "gzip";
  context.headers.vary = ["Accept-Encoding", "Accept"];
  send(context, 200, contentType, gzipped);
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(",").some((one) => one.trim().replace(/^W\//, "") === `"${etag}"` || one.trim() === "*") === true;
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

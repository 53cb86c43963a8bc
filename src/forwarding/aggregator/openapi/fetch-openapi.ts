/**
 * Fetches the OpenAPI documents of another server. Source:
 * `k8s.io/kube-aggregator@v0.36.0/pkg/controllers/openapi/aggregator/downloader.go` and
 * `pkg/controllers/openapiv3/aggregator/downloader.go`.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { countContainers } from "../../../lib/json/count-containers.ts";
import { encodeAny } from "../../../lib/json/encode-any.ts";
import { parseEncoded, parseJson } from "../../../lib/json/parse.ts";
import { isObject } from "../../../lib/json/values.ts";
import { readSwagger } from "../../../lib/swagger/read-document.ts";
import type { BackendAnswer, Backends, RemoteApiService } from "../contract.ts";
import { etagOf } from "../remote-documents.ts";

/** The server did not send an OpenAPI document. The message says why. */
export class OpenApiError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OpenApiError";
  }
}

/** A kept v2 document. */
export interface KeptDocument {
  /** Sent back to the server; empty if it sent none. */
  readonly etag: string;
  /** Of the bytes that the server sent. */
  readonly hash: string;
  /** The canonical document as compressed JSON. */
  readonly gzipped: Buffer;
  readonly size: DocumentSize;
}

/** What a document costs when it is merged. */
export interface DocumentSize {
  /** Of its canonical JSON. */
  readonly bytes: number;
  /** Objects and lists. */
  readonly containers: number;
}

type Get = Pick<Backends, "get">;

/** Upstream's limit is a minute. */
const timeoutMs = 60_000;
/** The document of all built-in groups has half of this. Larger ones are skipped. */
const documentBytesMax = 8 * 1024 * 1024;
/** Objects and lists of a document; millions of them fit in its bytes. That of all built-in groups has 22,000. */
const containersMax = 50_000;
const indexBytesMax = 1024 * 1024;
/** Upstream's hashes have 128 characters. */
const urlLengthMax = 1024;

const compress = promisify(gzip);
const expand = promisify(gunzip);

function fetchPath(
  backends: Get,
  remote: RemoteApiService,
  path: string,
  options: FetchOptions,
): Promise<BackendAnswer> {
  const { etag = "", answerBytesMax } = options;
  return backends.get(remote, {
    path,
    headers: { accept: "application/json", ...(etag !== "" && { "if-none-match": etag }) },
    user: { name: "system:aggregator", groups: [] },
    timeoutMs,
    answerBytesMax,
  });
}

interface FetchOptions {
  readonly etag?: string | undefined;
  readonly answerBytesMax: number;
}

/**
 * Fetches the v2 document.
 *
 * @param previous the last document, which the server may confirm
 * @returns undefined if the server has none
 * @throws OpenApiError, SwaggerError, JsonSyntaxError for an unusable answer
 * @throws WebhookError without a complete answer
 */
export async function fetchV2(
  backends: Get,
  remote: RemoteApiService,
  previous: KeptDocument | undefined,
): Promise<KeptDocument | undefined> {
  const options = { etag: previous?.etag, answerBytesMax: documentBytesMax };
  const answer = await fetchPath(backends, remote, "/openapi/v2", options);
  if (answer.status === 404) return undefined;
  if (answer.status === 304 && previous !== undefined) return previous;
  if (answer.status !== 200) throw new OpenApiError(`response code ${answer.status} for /openapi/v2`);
  const hash = createHash("sha512").update(answer.body).digest("hex").toUpperCase();
  const etag = etagOf(answer);
  if (previous?.hash === hash) return { ...previous, etag };
  const containers = checkedContainers(answer);
  const text = Buffer.from(encodeAny(await readSwagger(answer.body)));
  return { etag, hash, gzipped: await compress(text), size: { bytes: text.length, containers } };
}

/** @returns the number of objects and lists @throws OpenApiError when a document would be large in memory */
function checkedContainers({ body }: BackendAnswer): number {
  const count = countContainers(body);
  if (count > containersMax) throw new OpenApiError(`more than ${containersMax} objects and lists`);
  return count;
}

/** Reads a kept document. */
export async function expandDocument({ gzipped }: KeptDocument): Promise<{ readonly [key: string]: unknown }> {
  return parseEncoded(await expand(gzipped)) as { readonly [key: string]: unknown };
}

/**
 * Fetches the index of v3 documents.
 *
 * @param keeps whether a path of the index is kept
 * @returns the URLs by path; undefined if the server has no v3 documents
 * @throws OpenApiError, JsonSyntaxError for an unusable answer
 * @throws WebhookError without a complete answer
 */
export async function fetchV3Index(
  backends: Get,
  remote: RemoteApiService,
  keeps: (path: string) => boolean,
): Promise<ReadonlyMap<string, string> | undefined> {
  const answer = await fetchPath(backends, remote, "/openapi/v3", { answerBytesMax: indexBytesMax });
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw new OpenApiError(`response code ${answer.status} for /openapi/v3`);
  checkedContainers(answer);
  const { value } = parseJson(answer.body);
  const paths = isObject(value) ? value.paths : undefined;
  if (!isObject(paths)) throw new OpenApiError("the index has no paths");
  const kept = Object.entries(paths).filter(([path]) => keeps(path));
  return new Map(kept.map(([path, entry]) => [path, urlOf(path, entry)]));
}

/** The URL in the index, if it leads to the document at this server, possibly with a hash. */
function urlOf(path: string, entry: unknown): string {
  const plain = `/openapi/v3/${path}`;
  const url = isObject(entry) ? entry.serverRelativeURL : undefined;
  if (typeof url !== "string" || url.length > urlLengthMax) return plain;
  return url.startsWith(`${plain}?`) && /^[\w%.~&=+-]*$/.test(url.slice(plain.length + 1)) ? url : plain;
}

/** Discovery: what this server serves. Source: upstream's discovery and aggregated discovery; resource-api §4.4 for the choice of a form. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { methodNotAllowed, notAcceptable, resourceNotServed } from "../../apimachinery/errors.ts";
import type { Catalog } from "../../catalog/contract.ts";
import {
  apiGroup,
  apiGroupDiscoveryList,
  apiGroupList,
  apiResourceList,
  apiVersions,
  isBuiltinGroup,
  type ServedGroup,
  type ServerAddresses,
  servedGroups,
} from "../../catalog/discovery.ts";
import { indentJson } from "../../lib/json/indent.ts";
import type { RequestContext } from "../contract.ts";
import type { Encoding, Shown } from "../representation/contract.ts";
import { metaObject } from "../representation/meta-object.ts";
import {
  checkRoute,
  namesOf,
  negotiateAggregated,
  negotiatePlain,
  outsideGroups,
} from "../representation/negotiate.ts";
import { pathNotFound, send, statusBody } from "../respond.ts";

export interface DiscoveryDependencies {
  readonly catalog: Catalog;
  /** `host:port` that clients reach this server at. */
  serverAddress(): string;
  /** Paths outside the resource API, such as `/healthz`, for the list at `/`. */
  readonly paths: readonly string[];
}

export interface Discovery {
  /** `/` */
  root(context: RequestContext): void;
  /** `/api` and below, as far as no resource is named. */
  api(context: RequestContext): void;
  /** `/apis` and below, as far as no resource is named. */
  apis(context: RequestContext): void;
}

/** A document ready to be sent. */
interface Document {
  readonly body: Buffer;
  /** The same in other forms; the list of paths has none. */
  readonly shown: Shown | undefined;
  /** Only aggregated documents carry one. */
  readonly etag: string;
}

export function createDiscovery({ catalog, serverAddress, paths }: DiscoveryDependencies): Discovery {
  // One document for each path, made when first asked for, forgotten as soon as the catalogue changes; unknown paths are not kept.
  const documents = new Map<string, Document>();
  let generation = -1;
  let groups: readonly ServedGroup[] = [];

  const document = (key: string, make: () => object | undefined): Document | undefined => {
    const known = documents.get(key);
    if (known !== undefined) return known;
    const content = make();
    if (content === undefined) return undefined;
    const body = Buffer.from(`${JSON.stringify(content)}\n`);
    const made = {
      body,
      shown: isKind(content) ? { ...metaObject(content), line: () => body } : undefined,
      etag: `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"`,
    };
    documents.set(key, made);
    return made;
  };
  const refresh = (): void => {
    if (generation === catalog.generation) return;
    generation = catalog.generation;
    groups = servedGroups(catalog.definitions());
    documents.clear();
  };
  const find = (name: string): ServedGroup | undefined => groups.find(({ group }) => group === name);
  const named = (): readonly ServedGroup[] => groups.filter(({ group }) => group !== "");
  const addresses = (): ServerAddresses => [{ clientCIDR: "0.0.0.0/0", serverAddress: serverAddress() }];
  const resources = (groupName: string, versionName: string): object | undefined => {
    const version = find(groupName)?.versions.find((one) => one.version === versionName);
    return version && apiResourceList(groupName, version);
  };
  const answer = (context: RequestContext, key: string, make: () => object | undefined): void => {
    const found = document(key, make);
    if (found === undefined) return nowhere(context);
    if (context.exchange.method !== "GET") return sendMethodNotAllowed(context);
    sendPlain(context, found);
  };
  // Below a group of its own upstream's router answers, elsewhere nobody is there to.
  const nowhere = (context: RequestContext): void => {
    const [prefix, group = ""] = segmentsOf(context);
    if (prefix === "api" || (group !== "" && isBuiltinGroup(catalog.definitions(), group))) throw resourceNotServed();
    pathNotFound(context);
  };
  const answerList = (
    context: RequestContext,
    key: string,
    plain: () => object,
    aggregated: () => readonly ServedGroup[],
  ): void => {
    const encoding = context.exchange.method === "GET" ? negotiateAggregated(outsideGroups(context)) : undefined;
    if (encoding === undefined) return answer(context, key, plain);
    sendAggregated(
      context,
      encoding,
      document(`${key}#aggregated`, () => apiGroupDiscoveryList(aggregated())) as Document,
    );
  };

  return {
    root(context) {
      refresh();
      answer(context, "/", () => ({ paths: allPaths(groups, paths) }));
    },
    api(context) {
      refresh();
      const [, version, ...rest] = segmentsOf(context);
      if (rest.length > 0) return nowhere(context);
      if (version !== undefined) return answer(context, `/api/${version}`, () => resources("", version));
      const core = find("");
      answerList(
        context,
        "/api",
        () => apiVersions(core, addresses()),
        () => (core === undefined ? [] : [core]),
      );
    },
    apis(context) {
      refresh();
      const [, group, version, ...rest] = segmentsOf(context);
      if (rest.length > 0) return nowhere(context);
      if (group === undefined) return answerList(context, "/apis", () => apiGroupList(named(), addresses()), named);
      if (version !== undefined)
        return answer(context, `/apis/${group}/${version}`, () =>
          group === "" ? undefined : resources(group, version),
        );
      answer(context, `/apis/${group}`, () => {
        const found = find(group);
        return found && apiGroup(found);
      });
    },
  };
}

function isKind(content: object): content is { readonly kind: string } {
  return "kind" in content;
}

function segmentsOf({ info }: RequestContext): string[] {
  return info.path.replace(/^\/|\/+$/g, "").split("/");
}

/** Upstream's discovery sends this Status with a type of plain text. */
function sendMethodNotAllowed(context: RequestContext): void {
  const { status } = methodNotAllowed();
  send(context, status.code, "text/plain; charset=utf-8", Buffer.from(`${JSON.stringify(statusBody(status))}\n`));
}

function sendPlain(context: RequestContext, { shown, body }: Document): void {
  if (shown === undefined) return send(context, 200, "application/json", indentJson(body.subarray(0, -1)));
  const asked = shown.kind === "APIResourceList" ? context : outsideGroups(context);
  checkRoute(asked);
  const encoding = negotiatePlain(asked);
  if (encoding === undefined) throw notAcceptable(namesOf(asked.encodings));
  send(context, 200, encoding.mediaType, encoding.whole(shown));
}

function sendAggregated(context: RequestContext, encoding: Encoding, { shown, etag }: Document): void {
  assert.ok(shown !== undefined, "it is a kind");
  context.headers.vary = "Accept";
  context.headers["cache-control"] = "public";
  context.headers.etag = etag;
  if (context.exchange.header("if-none-match") === etag)
    return context.exchange.respond(304, { "audit-id": context.auditId, ...context.headers });
  send(
    context,
    200,
    `${encoding.mediaType};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`,
    encoding.whole(shown),
  );
}

function allPaths(groups: readonly ServedGroup[], others: readonly string[]): string[] {
  const own = groups.flatMap(({ group, versions }) =>
    group === ""
      ? versions.map(({ version }) => `/api/${version}`)
      : [`/apis/${group}`, ...versions.map(({ version }) => `/apis/${group}/${version}`)],
  );
  return [...new Set(["/api", "/apis", "/apis/", ...own, ...others])].sort();
}

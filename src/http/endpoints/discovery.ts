/** Discovery documents: the groups, versions and resources of this server. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { methodNotAllowed, notAcceptable, resourceNotServed } from "../../apimachinery/errors.ts";
import { apiRegistrationGroup } from "../../catalog/api-service-priorities.ts";
import type { Catalog } from "../../catalog/contract.ts";
import {
  apiGroup,
  apiGroupDiscoveryList,
  apiGroupList,
  apiResourceList,
  apiVersions,
  type GroupDiscoveryList,
  type MergedGroup,
  type NamedGroup,
  type ServedGroup,
  type ServerAddresses,
  servedGroups,
} from "../../catalog/discovery.ts";
import type { ApiServices } from "../../forwarding/aggregator/contract.ts";
import type { RemoteDiscovery } from "../../forwarding/aggregator/discovery/contract.ts";
import type { DiscoveryObserver, PeerGroups } from "../../forwarding/aggregator/peers/contract.ts";
import { indentJson } from "../../lib/json/indent.ts";
import { trimEndOf } from "../../lib/text/trim.ts";
import { pathNotFound, send } from "../../request/answer.ts";
import type { RequestContext } from "../contract.ts";
import type { Encoding, Shown } from "../representation/contract.ts";
import { metaObject } from "../representation/meta-object.ts";
import {
  type Chosen,
  checkRoute,
  choose,
  namesOf,
  negotiatePlain,
  outsideGroups,
  withPretty,
} from "../representation/negotiate.ts";
import { mergeGroups } from "./merged-groups.ts";
import { whileUnchanged } from "./while-unchanged.ts";

/** The dependencies of discovery. */
interface DiscoveryDependencies {
  readonly catalog: Catalog;
  /** The `host:port` of this server for clients. */
  serverAddress(): string;
  /** Paths outside the resource API, such as `/healthz`, for the list at `/`. */
  readonly paths: readonly string[];
  /** The registered APIServices; by default those of this server's own groups. */
  readonly apiServices?: Pick<ApiServices, "list" | "generation"> | undefined;
  /** The group versions of other servers. */
  readonly remote?: RemoteDiscovery | undefined;
  /** Called when a document of aggregated discovery is built. */
  readonly aggregated?: () => void;
  /** The groups of other servers over the same store; undefined: this server does not ask them. */
  readonly peers?: PeerGroups | undefined;
  /** Undefined without the gate UnknownVersionInteroperabilityProxy. */
  readonly observe?: DiscoveryObserver | undefined;
}

/** The handlers of discovery. */
export interface Discovery {
  /** `/` */
  root(context: RequestContext): void;
  /** `/api` and paths below it that name no resource. */
  api(context: RequestContext): void;
  /** `/apis` and paths below it that name no resource. */
  apis(context: RequestContext): void;
}

/** An encoded document. */
interface Document {
  readonly body: Buffer;
  /** For other encodings; undefined for the list of paths. */
  readonly shown: Shown | undefined;
  /** Sent with aggregated documents only. */
  readonly etag: string;
}

/** Creates the handlers. */
export function createDiscovery(dependencies: DiscoveryDependencies): Discovery {
  const { catalog, serverAddress, paths } = dependencies;
  const current = currentGroups(dependencies);
  const addresses = (): ServerAddresses => [{ clientCIDR: "0.0.0.0/0", serverAddress: serverAddress() }];
  const { answer, answerList } = answersOf(dependencies, current);
  return {
    root(context) {
      const served = current();
      answer(context, "/", () => ({ paths: allPaths(served.find(""), served.merged.plain, paths) }));
    },
    api(context) {
      const { find } = current();
      const [, version, ...rest] = segmentsOf(context);
      if (rest.length > 0) return rejectPath(context, catalog);
      if (version !== undefined) return answer(context, `/api/${version}`, () => resourceList(find(""), version));
      const core = find("");
      answerList(
        context,
        "/api",
        () => apiVersions(core, addresses()),
        () => (core === undefined ? [] : [core]),
      );
    },
    apis(context) {
      const served = current();
      const [, group, version, ...rest] = segmentsOf(context);
      if (rest.length > 0) return rejectPath(context, catalog);
      if (group === undefined)
        return answerList(
          context,
          "/apis",
          () => apiGroupList(served.merged.plain),
          () => served.merged.aggregated,
        );
      if (version !== undefined)
        return answer(context, `/apis/${group}/${version}`, () =>
          group === "" ? undefined : resourceList(served.find(group), version),
        );
      answer(context, `/apis/${group}`, () => {
        const found = served.merged.plain.find((one) => one.group === group);
        return found && apiGroup(found);
      });
    },
  };
}

/** Sends documents, which are made once for each state of the groups. */
function answersOf(dependencies: DiscoveryDependencies, current: () => CurrentGroups) {
  const { catalog, peers, observe } = dependencies;
  const answer = (context: RequestContext, key: string, make: () => object | undefined): void => {
    const found = current().document(key, make);
    if (found === undefined) return rejectPath(context, catalog);
    if (!allowsMethod(context)) throw methodNotAllowed();
    sendPlain(context, found, catalog);
  };
  const answerList = (
    context: RequestContext,
    key: string,
    plain: () => object,
    aggregated: () => readonly MergedGroup[],
  ): void => {
    const form = allowsMethod(context) ? negotiateAggregated(outsideGroups(context)) : undefined;
    if (form === undefined) return answer(context, key, plain);
    const own = () => {
      dependencies.aggregated?.();
      return apiGroupDiscoveryList(aggregated());
    };
    const served = current();
    const found =
      form.profile !== "nopeer" && peers !== undefined && key === "/apis"
        ? documentWithPeers(served, { peers, observe, own })
        : served.document(`${key}#aggregated`, own);
    if (form.profile === "nopeer") observe?.("nopeer");
    sendAggregated(context, form.encoding, found as Document);
  };
  return { answer, answerList };
}

/** The groups at one moment, and their documents. */
interface CurrentGroups {
  /** Those of all servers; computed when the first document needs them. */
  readonly merged: ReturnType<typeof mergeGroups>;
  /** A group of this server. */
  find(name: string): ServedGroup | undefined;
  readonly document: ReturnType<typeof encodedDocuments>;
}

/** @returns a function that returns the same value until a group changes */
function currentGroups({ catalog, apiServices, remote, peers }: DiscoveryDependencies): () => CurrentGroups {
  const own = whileUnchanged(
    () => [catalog.generation],
    () => servedGroups(catalog.definitions()),
  );
  const generations = () => [catalog.generation, apiServices?.generation, remote?.generation, peers?.generation];
  return whileUnchanged(generations, () => {
    const groups = own();
    let merged: CurrentGroups["merged"] | undefined;
    return {
      get merged() {
        merged ??= mergeGroups(groups, apiServices?.list() ?? [], remote);
        return merged;
      },
      find: (name) => groups.find(({ group }) => group === name),
      document: encodedDocuments(),
    };
  });
}

/**
 * One document per path, encoded at the first request; unknown paths are not cached.
 * @returns a function that returns the document of a path; undefined when `make` returns undefined
 */
function encodedDocuments(): (path: string, make: () => object | undefined) => Document | undefined {
  const documents = new Map<string, Document>();
  return (path, make) => {
    const existing = documents.get(path);
    if (existing !== undefined) return existing;
    const content = make();
    if (content === undefined) return undefined;
    const body = Buffer.from(`${JSON.stringify(content)}\n`);
    const made = {
      body,
      shown: isKind(content) ? { ...metaObject(content), line: () => body } : undefined,
      etag: `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"`,
    };
    documents.set(path, made);
    return made;
  };
}

interface PeerDocumentParts {
  readonly peers: PeerGroups;
  readonly observe: DiscoveryObserver | undefined;
  readonly own: () => GroupDiscoveryList;
}

/** The document of `/apis` with the groups of other servers over the same store. */
function documentWithPeers(
  { document }: Pick<CurrentGroups, "document">,
  { peers, observe, own }: PeerDocumentParts,
): Document | undefined {
  let isBuilt = true;
  const found = document("/apis#peers", () => {
    isBuilt = false;
    const list = own();
    return { ...list, items: peers.merge(list.items) };
  });
  observe?.(isBuilt ? "hit" : "miss");
  return found;
}

/** @returns undefined when the group or the version is not served, or custom in a built-in group */
function resourceList(group: ServedGroup | undefined, versionName: string): object | undefined {
  const version = group?.versions.find((one) => one.version === versionName);
  const isShadowed = group?.versions.some(isBuiltinVersion) === true && version && !isBuiltinVersion(version);
  return group && version && !isShadowed ? apiResourceList(group.group, version) : undefined;
}

function isBuiltinVersion({ resources }: ServedGroup["versions"][number]): boolean {
  return resources.some(({ definition }) => !definition.custom);
}

/** For a built-in group, upstream's API router answers unknown paths; for others, the path router. */
function rejectPath(context: RequestContext, catalog: Catalog): void {
  const [prefix, group = ""] = segmentsOf(context);
  if (prefix === "api" || (group !== "" && catalog.isBuiltinGroup(group))) throw resourceNotServed();
  pathNotFound(context);
}

function isKind(content: object): content is { readonly kind: string } {
  return "kind" in content;
}

/** Prefix, group, version, and whether there is more: no document has a longer path. */
const segmentsMax = 4;

function segmentsOf({ info }: RequestContext): string[] {
  const path = trimEndOf(info.path, "/");
  return (path.startsWith("/") ? path.slice(1) : path).split("/", segmentsMax);
}

/** Upstream's aggregator answers at `/apis` and, except for its own group, at groups. */
function isAnsweredByAggregator(context: RequestContext): boolean {
  const [prefix, group, version] = segmentsOf(context);
  return prefix === "apis" && version === undefined && group !== apiRegistrationGroup;
}

/** The handlers of the aggregator and of the list of paths have no routes, and so answer any method. */
function allowsMethod(context: RequestContext): boolean {
  const [prefix] = segmentsOf(context);
  return (
    isAnsweredByAggregator(context) || prefix === "" || prefix === "index.html" || context.exchange.method === "GET"
  );
}

function isOfBuiltinGroup(context: RequestContext, catalog: Catalog): boolean {
  const [prefix, group = ""] = segmentsOf(context);
  return prefix === "api" || catalog.isBuiltinGroup(group);
}

/** Upstream has CBOR for the resources of a built-in group and version alone, which is another server than that of definitions. */
function sendPlain(context: RequestContext, { shown, body }: Document, catalog: Catalog): void {
  if (shown === undefined) return send(context, 200, "application/json", indentJson(body.subarray(0, -1)));
  const isBuiltin = isOfBuiltinGroup(context, catalog);
  const target = shown.kind === "APIResourceList" && isBuiltin ? context : outsideGroups(context);
  if (!isAnsweredByAggregator(context) && isBuiltin) checkRoute(target);
  const encoding = negotiatePlain(target);
  if (encoding === undefined) throw notAcceptable(namesOf(target.encodings));
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

function allPaths(core: ServedGroup | undefined, groups: readonly NamedGroup[], others: readonly string[]): string[] {
  const named = groups.flatMap(({ group, versions }) => [
    `/apis/${group}`,
    ...versions.map(({ version }) => `/apis/${group}/${version}`),
  ]);
  const legacy = core?.versions.map(({ version }) => `/api/${version}`) ?? [];
  return [...new Set(["/api", "/apis", "/apis/", ...legacy, ...named, ...others])].sort();
}

/**
 * Negotiates aggregated discovery, at any position in Accept.
 * @returns undefined when it is not accepted
 */
function negotiateAggregated(
  context: Pick<RequestContext, "exchange" | "info" | "encodings">,
): Pick<Chosen, "encoding" | "profile"> | undefined {
  const accept = context.exchange.header("accept") ?? "";
  if (accept === "") return undefined;
  const chosen = choose(accept, context.encodings, {
    allows: (_encoding, target) =>
      target?.group === "apidiscovery.k8s.io" && target.version === "v2" && target.kind === "APIGroupDiscoveryList",
    allowsServerVersion: () => false,
  });
  return chosen && { encoding: withPretty(context, chosen), profile: chosen.profile };
}

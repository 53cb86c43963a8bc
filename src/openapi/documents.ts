/**
 * Encodes OpenAPI documents. They are large, so that the encoder yields to other requests between
 * paths and between definitions.
 */
import type { ServedGroup, ServedResource } from "../catalog/discovery.ts";
import type { Json } from "../lib/json/values.ts";
import { Pauses } from "../lib/pauses.ts";
import { collectDefinitions, type Definitions, type GroupVersion } from "./definitions.ts";
import type { Descriptions } from "./descriptions.ts";
import { openApiV2, openApiV3 } from "./dialect.ts";
import { encodeEntry, encodeMessage, messageField } from "./gnostic.ts";
import { documentHeadV2, documentTailV2, documentV2, parameterV2, pathItemV2, schemaV2 } from "./gnostic-v2.ts";
import { componentsTailV3, documentHeadV3, documentV3, pathItemV3, schemaV3 } from "./gnostic-v3.ts";
import { jsonEntry, jsonMember, jsonMembers, jsonObject } from "./json-pieces.ts";
import type { EncodedPieces, EncodePiece, PiecesV2 } from "./merged-pieces.ts";
import { pathsOf, topPaths } from "./operations.ts";
import type { PathItem, PathOptions } from "./path-item.ts";
import { renderPathV2, renderPathV3 } from "./render.ts";
import { sharedParameters } from "./shared-parameters.ts";

/** The encoding of a document. */
export type Encoding = "json" | "protobuf";

/** The options of the documents. */
export interface DocumentSource extends PathOptions {
  readonly descriptions: Descriptions;
  /** Whether fields list their allowed values (feature gate OpenAPIEnums). */
  readonly enums: boolean;
  /** `v1.36.0` */
  readonly release: string;
  /** Whether the paths of service account issuer discovery are served. */
  readonly issuer: boolean;
}

/** `info` of upstream's documents of custom resources. */
const customInfo = { title: "Kubernetes CRD Swagger", version: "v0.1.0" };
const bearerToken = { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" };

/** One of the documents into which v3 splits the API. */
export interface Part {
  /** Below `/openapi/v3/`: `api/v1`, `apis/apps/v1`, `apis/apps`, `version` … */
  readonly name: string;
  /** The resources in the document; it changes only with their definitions. */
  readonly resources: readonly ServedResource[];
  /** Whether it has only custom resources. */
  readonly custom: boolean;
  /** As in the options of definitions. */
  readonly lists: ((groupVersion: GroupVersion) => boolean) | undefined;
  paths(options: PathOptions): PathItem[];
}

/** The v3 documents of all groups. */
export function partsOf(groups: readonly ServedGroup[], { issuer }: Pick<DocumentSource, "issuer">): Part[] {
  const versions = groups.flatMap(({ group, versions }) =>
    versions.map((version) => {
      const custom = version.resources.every(({ definition }) => definition.custom);
      return {
        name: group === "" ? `api/${version.version}` : `apis/${group}/${version.version}`,
        resources: version.resources,
        custom,
        lists: custom ? isOfClients : isOf(group, version.version),
        paths: (options: PathOptions) => pathsOf(group, version, options),
      };
    }),
  );
  return [
    ...topPaths(groups, issuer).map(([name, item]) => ({
      name,
      resources: [],
      custom: false,
      lists: undefined,
      paths: () => [item],
    })),
    ...versions,
  ];
}

const isOf =
  (group: string, version: string) =>
  (one: GroupVersion): boolean =>
    one.group === "" || (one.group === group && one.version === version);

/** Groups whose types upstream's client library does not have; its scheme is that of custom kinds. */
const serverGroups = ["admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"];
const isOfClients = ({ group }: GroupVersion): boolean => !serverGroups.includes(group);

/** Encodes a v3 document. */
export async function encodeV3(part: Part, source: DocumentSource, encoding: Encoding): Promise<Buffer> {
  const definitions = collectDefinitions(openApiV3, { ...source, lists: part.lists });
  const rendering = { definitions, descriptions: source.descriptions };
  const head = { openapi: "3.0.0", info: part.custom ? customInfo : { title: "Kubernetes", version: source.release } };
  const tail = part.custom ? {} : { securitySchemes: { BearerToken: bearerToken } };
  const render = (item: PathItem): Json => renderPathV3(item, rendering);
  if (encoding === "json") {
    const pieces = await encodePieces(part.paths(source), render, definitions, {
      path: jsonEntry,
      definition: jsonEntry,
    });
    const [paths, schemas] = [sorted(pieces.paths), sorted(pieces.schemas)];
    const components = jsonObject([
      ...(schemas.length > 0 ? [jsonMember("schemas", jsonObject(schemas))] : []),
      ...jsonMembers(tail),
    ]);
    return Buffer.concat(
      jsonObject([...jsonMembers(head), jsonMember("paths", jsonObject(paths)), jsonMember("components", components)]),
    );
  }
  const pieces = await encodePieces(part.paths(source), render, definitions, {
    path: (name, value) => encodeEntry(documentV3.path, pathItemV3, name, value),
    definition: (name, value) => encodeEntry(documentV3.schema, schemaV3, name, value),
  });
  const [paths, schemas] = [sorted(pieces.paths), sorted(pieces.schemas)];
  const components = [
    ...(schemas.length > 0 ? messageField(documentV3.schemas, schemas) : []),
    encodeMessage(componentsTailV3, tail),
  ];
  return Buffer.concat([
    encodeMessage(documentHeadV3, head),
    ...messageField(documentV3.paths, paths),
    ...messageField(documentV3.components, components),
  ]);
}

/**
 * Encodes the v2 document, which has all groups.
 *
 * @param others documents of other servers in their canonical form, with only the paths of their
 *   APIServices; the first one has precedence
 */
export async function encodeV2(
  groups: readonly ServedGroup[],
  source: DocumentSource,
  encoding: Encoding,
  others: readonly Json[] = [],
): Promise<Buffer> {
  const definitions = collectDefinitions(openApiV2, source);
  const rendering = { definitions, descriptions: source.descriptions };
  const shared = sharedParameters();
  const items = partsOf(groups, source).flatMap((part) => part.paths(source));
  const render = (item: PathItem): Json => renderPathV2(item, rendering, shared.share);
  const head = { swagger: "2.0", info: { title: "Kubernetes", version: source.release } };
  const tail = { securityDefinitions: { BearerToken: bearerToken }, security: [{ BearerToken: [] }] };
  const encode = encoding === "json" ? jsonPiecesV2 : protobufPiecesV2({});
  // Most servers have no others.
  const merging = others.length === 0 ? undefined : await import("./merged-pieces.ts");
  const own = await encodePieces(items, render, definitions, encode, merging?.keepsFor(others));
  const parameters = shared.all();
  const encodeOther = encoding === "json" ? jsonPiecesV2 : protobufPiecesV2({ skipsUnknown: true });
  const all =
    merging === undefined
      ? { ...own, parameters: parameters.map(([name, one]) => [name, encode.parameter(name, one)] as [string, Buffer]) }
      : await merging.mergePieces({ ...own, parameters }, others, encodeOther);
  const pieces = { paths: sorted(all.paths), schemas: sorted(all.schemas), parameters: sorted(all.parameters) };
  if (encoding === "json") {
    const sections = [
      jsonMember("paths", jsonObject(pieces.paths)),
      jsonMember("definitions", jsonObject(pieces.schemas)),
      jsonMember("parameters", jsonObject(pieces.parameters)),
    ];
    return Buffer.concat(jsonObject([...jsonMembers(head), ...sections, ...jsonMembers(tail)]));
  }
  return Buffer.concat([
    encodeMessage(documentHeadV2, head),
    ...messageField(documentV2.paths, pieces.paths),
    ...messageField(documentV2.definitions, pieces.schemas),
    ...messageField(documentV2.parameters, pieces.parameters),
    encodeMessage(documentTailV2, tail),
  ]);
}

const jsonPiecesV2: PiecesV2 = { path: jsonEntry, definition: jsonEntry, parameter: jsonEntry };
const protobufPiecesV2 = (options: { readonly skipsUnknown?: boolean }): PiecesV2 => ({
  path: (name, value) => encodeEntry(documentV2.path, pathItemV2, name, value, options),
  definition: (name, value) => encodeEntry(documentV2.definition, schemaV2, name, value, options),
  parameter: (name, value) => encodeEntry(documentV2.parameter, parameterV2, name, value, options),
});

/** Encodes paths and the definitions that they reference. */
async function encodePieces(
  items: readonly PathItem[],
  render: (item: PathItem) => Json,
  definitions: Definitions,
  encode: { readonly path: EncodePiece; readonly definition: EncodePiece },
  keeps: (name: string) => boolean = () => false,
): Promise<EncodedPieces> {
  const pauses = new Pauses();
  const paths: [string, Buffer][] = [];
  for (const item of items) {
    paths.push([item.path, encode.path(item.path, render(item))]);
    if (pauses.isDue()) await pauses.pause();
  }
  const schemas: [string, Buffer][] = [];
  const kept: [string, Json][] = [];
  for (let next = definitions.take(); next !== undefined; next = definitions.take()) {
    if (keeps(next[0])) kept.push(next);
    else schemas.push([next[0], encode.definition(...next)]);
    if (pauses.isDue()) await pauses.pause();
  }
  return { paths, schemas, kept };
}

function sorted(pieces: readonly [string, Buffer][]): Buffer[] {
  return sortByName(pieces).map(([, piece]) => piece);
}

function sortByName<T>(named: readonly [string, T][]): [string, T][] {
  return [...named].sort(([a], [b]) => (a < b ? -1 : 1));
}

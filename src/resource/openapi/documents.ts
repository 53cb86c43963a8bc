/** Whole OpenAPI documents, encoded. They are large: what is made in one go is kept small, so that other requests are served between. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ServedGroup, ServedResource } from "../discovery.ts";
import { collectDefinitions, type GroupVersion } from "./definitions.ts";
import type { Descriptions } from "./descriptions.ts";
import { type Json, openApiV2, openApiV3 } from "./dialect.ts";
import { encodeEntry, encodeMessage, fieldHead } from "./gnostic.ts";
import { documentHeadV2, documentTailV2, documentV2, parameterV2, pathItemV2, schemaV2 } from "./gnostic-v2.ts";
import { encodeDocumentV3 } from "./gnostic-v3.ts";
import { type PathItem, type PathOptions, pathsOf, topPaths } from "./operations.ts";
import { renderPathV2, renderPathV3 } from "./render.ts";
import { sharedParameters } from "./shared-parameters.ts";

export type Encoding = "json" | "protobuf";

export interface DocumentSource extends PathOptions {
  readonly descriptions: Descriptions;
  /** Whether fields say which values they accept (gate OpenAPIEnums). */
  readonly enums: boolean;
  /** `v1.36.0` */
  readonly release: string;
}

/** How long a document may be worked on before others get their turn. */
const sliceMs = 8;

const bearerToken = { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" };

/** One of the documents that v3 splits the API into. */
export interface Part {
  /** Below `/openapi/v3/`: `api/v1`, `apis/apps/v1`, `apis/apps`, `version` … */
  readonly name: string;
  /** What it is made of: while these definitions stay the same, so does the document. */
  readonly resources: readonly ServedResource[];
  /** Undefined for documents that are of no version. */
  readonly groupVersion: GroupVersion | undefined;
  paths(options: PathOptions): PathItem[];
}

export function partsOf(groups: readonly ServedGroup[]): Part[] {
  const versions = groups.flatMap(({ group, versions }) =>
    versions.map((version) => ({
      name: group === "" ? `api/${version.version}` : `apis/${group}/${version.version}`,
      resources: version.resources,
      groupVersion: { group, version: version.version },
      paths: (options: PathOptions) => pathsOf(group, version, options),
    })),
  );
  return [...topPaths(groups).map(([name, item]) => ({ name, resources: [], groupVersion: undefined, paths: () => [item] })), ...versions];
}

/** The document of one part. */
export async function buildV3(part: Part, source: DocumentSource): Promise<Json> {
  const pause = pauses();
  const definitions = collectDefinitions(openApiV3, { ...source, groupVersion: part.groupVersion });
  const rendering = { definitions, descriptions: source.descriptions };
  const paths: Record<string, Json> = {};
  for (const item of part.paths(source)) {
    paths[item.path] = renderPathV3(item, rendering);
    await pause();
  }
  const schemas: [string, Json][] = [];
  for (let taken = definitions.take(); taken !== undefined; taken = definitions.take()) {
    schemas.push(taken);
    await pause();
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: source.release },
    paths,
    components: { schemas: Object.fromEntries(sortByName(schemas)), securitySchemes: { BearerToken: bearerToken } },
  };
}

export function encodeV3(document: Json, encoding: Encoding): Buffer {
  return encoding === "json" ? Buffer.from(JSON.stringify(document)) : encodeDocumentV3(document);
}

/** The one document of all groups, encoded piece by piece. */
export async function encodeV2(groups: readonly ServedGroup[], source: DocumentSource, encoding: Encoding): Promise<Buffer> {
  const pause = pauses();
  const definitions = collectDefinitions(openApiV2, source);
  const rendering = { definitions, descriptions: source.descriptions };
  const parameters = sharedParameters();
  const piece = pieceEncoders[encoding];
  const paths: [string, Buffer][] = [];
  for (const part of partsOf(groups)) {
    for (const item of part.paths(source)) {
      paths.push([item.path, piece.path(item.path, renderPathV2(item, rendering, parameters.share))]);
      await pause();
    }
  }
  const named: [string, Buffer][] = [];
  for (let taken = definitions.take(); taken !== undefined; taken = definitions.take()) {
    named.push([taken[0], piece.definition(...taken)]);
    await pause();
  }
  const sections: Sections = {
    head: { swagger: "2.0", info: { title: "Kubernetes", version: source.release } },
    paths: sortByName(paths).map(([, encoded]) => encoded),
    definitions: sortByName(named).map(([, encoded]) => encoded),
    parameters: sortByName(parameters.all()).map(([name, parameter]) => piece.parameter(name, parameter)),
    tail: { securityDefinitions: { BearerToken: bearerToken }, security: [{ BearerToken: [] }] },
  };
  return encoding === "json" ? joinJson(sections) : joinProtobuf(sections);
}

interface Sections {
  readonly head: Json;
  readonly paths: readonly Buffer[];
  readonly definitions: readonly Buffer[];
  readonly parameters: readonly Buffer[];
  readonly tail: Json;
}

type EncodePiece = (name: string, value: Json) => Buffer;
const jsonEntry: EncodePiece = (name, value) => Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`);

const pieceEncoders: Readonly<Record<Encoding, Readonly<Record<"path" | "definition" | "parameter", EncodePiece>>>> = {
  json: { path: jsonEntry, definition: jsonEntry, parameter: jsonEntry },
  protobuf: {
    path: (name, value) => encodeEntry(documentV2.path, pathItemV2, name, value),
    definition: (name, value) => encodeEntry(documentV2.definition, schemaV2, name, value),
    parameter: (name, value) => encodeEntry(documentV2.parameter, parameterV2, name, value),
  },
};

function joinJson({ head, paths, definitions, parameters, tail }: Sections): Buffer {
  const section = (name: string, pieces: readonly Buffer[]): Buffer[] => [Buffer.from(`,"${name}":{`), ...withCommas(pieces), Buffer.from("}")];
  return Buffer.concat([
    Buffer.from(JSON.stringify(head).slice(0, -1)),
    ...section("paths", paths),
    ...section("definitions", definitions),
    ...section("parameters", parameters),
    Buffer.from(`,${JSON.stringify(tail).slice(1)}`),
  ]);
}

const comma = Buffer.from(",");

function withCommas(pieces: readonly Buffer[]): Buffer[] {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [comma, piece]));
}

function joinProtobuf({ head, paths, definitions, parameters, tail }: Sections): Buffer {
  const section = (field: number, pieces: readonly Buffer[]): Buffer[] => [
    fieldHead(
      field,
      pieces.reduce((sum, piece) => sum + piece.length, 0),
    ),
    ...pieces,
  ];
  return Buffer.concat([
    encodeMessage(documentHeadV2, head),
    ...section(documentV2.paths, paths),
    ...section(documentV2.definitions, definitions),
    ...section(documentV2.parameters, parameters),
    encodeMessage(documentTailV2, tail),
  ]);
}

/** @returns what is to be called between steps: it waits a turn of the event loop when the slice is used up */
function pauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

function sortByName<T>(named: readonly [string, T][]): [string, T][] {
  return [...named].sort(([a], [b]) => (a < b ? -1 : 1));
}

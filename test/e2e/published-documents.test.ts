/**
 * Compares every OpenAPI and discovery document that upstream publishes with ours:
 * `COXSWAIN_OPENAPI=DIR npm run test:full`, where DIR has the sources of Kubernetes 1.36. This file
 * lists the reasons for differences; the test fails when a reason covers no difference any more.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { builtinConversions, builtinStrategies } from "../../src/apis/index.ts";
import { builtinDefinitions, builtinVersions } from "../../src/catalog/builtin-definitions.ts";
import { openCatalog } from "../../src/catalog/catalog.ts";
import type { Catalog } from "../../src/catalog/contract.ts";
import { parseRuntimeConfig } from "../../src/catalog/runtime-config.ts";
import type { RequestContext } from "../../src/http/contract.ts";
import { createDiscovery } from "../../src/http/endpoints/discovery.ts";
import { createOpenApi } from "../../src/http/endpoints/openapi.ts";
import { type Difference, jsonDifferences } from "../support/json-differences.ts";
import { reasonOf } from "../support/needs.ts";
import { ask } from "../support/request-context.ts";

const directory = process.env.COXSWAIN_OPENAPI;

interface DocumentDifference extends Difference {
  /** `api/v1`, or `v2`. */
  readonly document: string;
}

type Reasons = Readonly<Record<string, (found: DocumentDifference) => boolean>>;

const openApiReasons: Reasons = {
  "the published documents were made without a version": ({ path }) => path.join() === "info,version",
  "the published documents were made with --enable-logs-handler": ({ document, path }) =>
    document === "logs" || /^\/logs\//.test(path[1] ?? "") || path[1] === "logpath-Noq7euwC",
  "descriptions come from the client package, which replaces line breaks by blanks": ({ path, ours, theirs }) =>
    isDescription(path) && typeof ours === "string" && typeof theirs === "string" && words(ours) === words(theirs),
  "descriptions of fields of alpha and beta types come from v1 or from the client package, which has none of those that refer to types":
    ({ path, theirs }) => isDescription(path) && path.includes("properties") && theirs !== undefined,
  "descriptions of types come from packages, which have none of Quantity and some versions": ({ path, ours, theirs }) =>
    isDescription(path) && !path.includes("properties") && ours === undefined && theirs !== undefined,
  "names of shared parameters contain a hash of their texts": ({ document, path, ours, theirs }) =>
    document === "v2" &&
    (path[0] === "parameters" ? longTexts.test(path[1] ?? "") : isParameter(ours) && isParameter(theirs)),
};

/** Parameters whose texts have lists; the client package does not keep the lines. */
const longTexts = /^(?:sendInitialEvents|shardSelector)-[\w-]{8}$/;

function isParameter(reference: unknown): boolean {
  return (
    typeof reference === "string" &&
    reference.startsWith("#/parameters/") &&
    longTexts.test(reference.slice("#/parameters/".length))
  );
}

function isDescription(path: readonly string[]): boolean {
  return path.at(-1) === "description" && path.at(-2) !== "properties";
}

function words(text: string): string {
  return text.split(/\s+/).join(" ");
}

const discoveryReasons: Reasons = {
  "the published server has another address": ({ path }) => path.at(-1) === "serverAddress",
};

describe("the documents that upstream publishes", {
  skip: directory === undefined && reasonOf("the sources of Kubernetes 1.36", "COXSWAIN_OPENAPI=DIRECTORY"),
}, () => {
  const sources = directory as string;
  const check = (context: TestContext, found: readonly DocumentDifference[], reasons: Reasons): void => {
    const unexpected = found.filter((one) => !Object.values(reasons).some((covers) => covers(one)));
    const counted = Object.entries(reasons).map(([reason, covers]) => [reason, found.filter(covers).length] as const);
    for (const [reason, count] of counted) context.diagnostic(`${count} differences: ${reason}`);
    assert.deepEqual(unexpected.map(summary), []);
    assert.deepEqual(
      counted.filter(([, count]) => count === 0).map(([reason]) => reason),
      [],
    );
  };

  test("equal our OpenAPI documents, except for the listed reasons", async (context) =>
    check(context, await openApiDifferences(join(sources, "api/openapi-spec")), openApiReasons));

  test("equal our discovery documents, except for the listed reasons", async (context) =>
    check(context, await discoveryDifferences(join(sources, "api/discovery")), discoveryReasons));

  test("list the same enum values", async () => {
    const theirs = publishedEnums(readFileSync(join(sources, "pkg/generated/openapi/zz_generated.openapi.go"), "utf8"));
    const ours = await ourEnums();
    assert.ok(theirs.size > 100);
    for (const [field, values] of ours) assert.deepEqual(values, theirs.get(field), field);
    const served = new Set([...ours.keys()].map((field) => field.split(" ")[0]));
    const missing = [...theirs.keys()].filter((field) => served.has(field.split(" ")[0]) && !ours.has(field));
    assert.deepEqual(missing, []);
  });
});

function summary({ document, path, ours, theirs }: DocumentDifference): string {
  return `${document} ${path.join(" ")}: ${JSON.stringify(ours)?.slice(0, 100)}, not ${JSON.stringify(theirs)?.slice(0, 100)}`;
}

/** Serves every group version, like the server of the published documents. */
function fullCatalog(): Catalog {
  const served = parseRuntimeConfig("api/all=true", builtinVersions());
  const definitions = builtinDefinitions({ strategies: builtinStrategies, conversions: builtinConversions, served });
  return openCatalog(definitions, (definition) => ({ definition, store: undefined }));
}

async function getJson(
  handler: (context: RequestContext) => void | Promise<void>,
  path: string,
  accept = "application/json",
): Promise<unknown> {
  const text = (await ask(handler, { path, headers: { accept } })).body.toString();
  return text === "" ? undefined : JSON.parse(text);
}

/** The published documents include CBOR and no enum values. */
async function openApiDifferences(published: string): Promise<DocumentDifference[]> {
  const openApi = createOpenApi({ catalog: fullCatalog(), cbor: true, enums: false, issuer: true });
  const compare = async (document: string, ours: unknown, file: string): Promise<DocumentDifference[]> => {
    const theirs = file === "" ? undefined : JSON.parse(readFileSync(file, "utf8"));
    return jsonDifferences(ours, theirs).map((one) => ({ ...one, document }));
  };

  const found = await compare("v2", await getJson(openApi.v2, "/openapi/v2"), join(published, "swagger.json"));
  const files = new Map(
    readdirSync(join(published, "v3")).map((file) => [
      file.replace(/_openapi\.json$/, "").replaceAll("__", "/"),
      join(published, "v3", file),
    ]),
  );
  const { paths } = (await getJson(openApi.v3, "/openapi/v3")) as { paths: Record<string, unknown> };
  for (const document of new Set([...files.keys(), ...Object.keys(paths)])) {
    found.push(
      ...(await compare(document, await getJson(openApi.v3, `/openapi/v3/${document}`), files.get(document) ?? "")),
    );
  }
  return found;
}

async function discoveryDifferences(published: string): Promise<DocumentDifference[]> {
  const discovery = createDiscovery({ catalog: fullCatalog(), serverAddress: () => "192.0.2.2:6443", paths: [] });
  const found: DocumentDifference[] = [];
  for (const file of readdirSync(published)) {
    const document = file.replace(/\.json$/, "").replaceAll("__", "/");
    const theirs = JSON.parse(readFileSync(join(published, file), "utf8"));
    const aggregated = document === "aggregated_v2";
    const path = aggregated ? "/apis" : `/${document}`;
    const accept = aggregated
      ? "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
      : "application/json";
    const ours = await getJson(path.startsWith("/apis") ? discovery.apis : discovery.api, path, accept);
    found.push(...jsonDifferences(ours, theirs).map((one) => ({ ...one, document })));
  }
  return found;
}

/** Enum values by definition and field, such as `core.v1.Container imagePullPolicy`. */
type Enums = ReadonlyMap<string, readonly string[]>;

async function ourEnums(): Promise<Enums> {
  const openApi = createOpenApi({ catalog: fullCatalog() });
  const { definitions } = (await getJson(openApi.v2, "/openapi/v2")) as {
    definitions: Record<string, { properties?: Record<string, EnumSchema> }>;
  };
  return new Map(
    Object.entries(definitions).flatMap(([definition, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, type]): [string, readonly string[]][] => {
        const values = type.enum ?? type.items?.enum ?? type.additionalProperties?.enum;
        return values === undefined ? [] : [[`${definition.split(".").slice(-3).join(".")} ${field}`, values]];
      }),
    ),
  );
}

interface EnumSchema {
  readonly enum?: readonly string[];
  readonly items?: EnumSchema;
  readonly additionalProperties?: EnumSchema;
}

/**
 * Reads the generated functions, one for each definition: the name of a field is some lines above
 * its enum values.
 */
function publishedEnums(source: string): Enums {
  const enums = new Map<string, readonly string[]>();
  for (const [, name, body] of source.matchAll(
    /\nfunc schema_(?:k8sio_api|pkg_apis)_(\w+)\(ref [^\n]*\n([\s\S]*?)\n}\n/g,
  )) {
    for (const [, field, values] of (body as string).matchAll(
      /^\t{5}"([^"]+)": \{(?:(?!^\t{5}\})[\s\S])*?\bEnum: +\[\]interface\{\}\{([^}]*)\}/gm,
    )) {
      enums.set(`${(name as string).replaceAll("_", ".")} ${field}`, JSON.parse(`[${values}]`));
    }
  }
  return enums;
}

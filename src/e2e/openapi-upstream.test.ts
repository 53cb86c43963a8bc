/**
 * Upstream's published documents: `COXSWAIN_OPENAPI=DIR npm run test:full`, where DIR is `api/openapi-spec` of Kubernetes 1.36, compares every
 * document with ours. What differs stands below with its reason; a reason that nothing needs any more fails the test.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { builtinConversions, builtinStrategies } from "../apis/index.ts";
import { parseRuntimeConfig } from "../cli/runtime-config.ts";
import { createOpenApi } from "../http/endpoints/openapi.ts";
import { builtinDefinitions, builtinVersions } from "../resource/builtin-definitions.ts";
import { openCatalog } from "../resource/catalog.ts";
import { type Difference, jsonDifferences } from "../testing/json-differences.ts";
import { ask } from "../testing/request-context.ts";

const directory = process.env.COXSWAIN_OPENAPI;

/** A difference in one document. */
interface Found extends Difference {
  /** `api/v1`, or `v2`. */
  readonly document: string;
}

const reasons: Readonly<Record<string, (found: Found) => boolean>> = {
  "the published documents were made without a version": ({ path }) => path.join() === "info,version",
  "the paths of service account issuers and of logs are not served": ({ document, path }) =>
    /^(?:\.well-known|openid|logs)/.test(document) || /^\/(?:\.well-known|openid|logs)\//.test(path[1] ?? "") || path[1] === "logpath-Noq7euwC",
  "resource.k8s.io/v1beta1 has fields that no other version has, and is not converted": ({ document, path }) =>
    document === "apis/resource.k8s.io/v1beta1" || path.some((step) => /resource\.k8s\.io\/v1beta1\/|\.resource\.v1beta1\./.test(step)),
  "descriptions come from the client package: blanks for new lines": ({ path, ours, theirs }) =>
    isDescription(path) && typeof ours === "string" && typeof theirs === "string" && words(ours) === words(theirs),
  "descriptions come from the client package, which has them of types alone, not of the fields that refer to them": ({ path, theirs }) =>
    isDescription(path) && path.includes("properties") && theirs !== undefined,
  "descriptions come from the client package, which has none of types that are no classes there": ({ path, ours, theirs }) =>
    isDescription(path) && !path.includes("properties") && ours === undefined && theirs !== undefined,
  "names of shared parameters are a hash of their texts": ({ document, path, ours, theirs }) =>
    document === "v2" && (path[0] === "parameters" ? longTexts.test(path[1] ?? "") : isParameter(ours) && isParameter(theirs)),
};

/** Parameters whose texts hold lists, whose lines the client package does not have. */
const longTexts = /^(?:sendInitialEvents|shardSelector)-[\w-]{8}$/;

function isParameter(reference: unknown): boolean {
  return typeof reference === "string" && reference.startsWith("#/parameters/") && longTexts.test(reference.slice("#/parameters/".length));
}

function isDescription(path: readonly string[]): boolean {
  return path.at(-1) === "description" && path.at(-2) !== "properties";
}

function words(text: string): string {
  return text.split(/\s+/).join(" ");
}

describe("upstream's published documents", { skip: directory === undefined && "COXSWAIN_OPENAPI names no directory of documents" }, () => {
  test("are ours, but for what has a reason", async (context) => {
    const found = await differences(directory as string);
    const unexpected = found.filter((one) => !Object.values(reasons).some((covers) => covers(one)));
    const counted = Object.entries(reasons).map(([reason, covers]) => [reason, found.filter(covers).length] as const);
    for (const [reason, count] of counted) context.diagnostic(`${count} differences: ${reason}`);
    assert.deepEqual(unexpected.map(summary), []);
    assert.deepEqual(
      counted.filter(([, count]) => count === 0).map(([reason]) => reason),
      [],
    );
  });
});

function summary({ document, path, ours, theirs }: Found): string {
  return `${document} ${path.join(" ")}: ${JSON.stringify(ours)?.slice(0, 100)}, not ${JSON.stringify(theirs)?.slice(0, 100)}`;
}

/** As the published documents were made: everything served, CBOR among it, and no enumerations. */
async function differences(published: string): Promise<Found[]> {
  const served = parseRuntimeConfig("api/all=true", builtinVersions(builtinConversions));
  const definitions = builtinDefinitions({ strategies: builtinStrategies, conversions: builtinConversions, served });
  const catalog = openCatalog(definitions, (definition) => ({ definition, store: undefined }));
  const openApi = createOpenApi({ catalog, cbor: true, enums: false });
  const get = async (path: string): Promise<unknown> => {
    const text = (await ask(path === "/openapi/v2" ? openApi.v2 : openApi.v3, { path })).body.toString();
    return text === "" ? undefined : JSON.parse(text);
  };
  const compare = async (document: string, path: string, file: string): Promise<Found[]> => {
    const theirs = file === "" ? undefined : JSON.parse(readFileSync(file, "utf8"));
    return jsonDifferences(await get(path), theirs).map((one) => ({ ...one, document }));
  };

  const found = await compare("v2", "/openapi/v2", join(published, "swagger.json"));
  const files = new Map(
    readdirSync(join(published, "v3")).map((file) => [file.replace(/_openapi\.json$/, "").replaceAll("__", "/"), join(published, "v3", file)]),
  );
  const { paths } = (await get("/openapi/v3")) as { paths: Record<string, unknown> };
  for (const document of new Set([...files.keys(), ...Object.keys(paths)])) {
    found.push(...(await compare(document, `/openapi/v3/${document}`, files.get(document) ?? "")));
  }
  return found;
}

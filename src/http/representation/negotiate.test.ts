/** The media types that upstream's router and negotiation choose. Recorded by `npm run golden negotiation`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ask } from "../../../test/support/request-context.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { parseMediaType } from "../../lib/media-type/media-type.ts";
import type { RequestContext, Shape } from "../contract.ts";
import { cbor } from "./cbor.ts";
import { checkRoute, namesOf, negotiate, negotiatePlain } from "./negotiate.ts";

const text = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/negotiation.jsonl.gz")));

interface Row {
  readonly verb: "get" | "list" | "watch";
  readonly custom?: boolean;
  readonly cbor?: boolean;
  readonly plain?: boolean;
  readonly accept: string;
  readonly query?: string;
  readonly userAgent?: string;
  /** Media type, whether it is pretty, and the kind that objects are converted to; or the error. */
  readonly want: string;
}

const paths = {
  get: "/api/v1/namespaces/n/configmaps/x?",
  list: "/api/v1/configmaps?",
  watch: "/api/v1/configmaps?watch=1&",
};

/** @returns the format of {@link Row.want} */
async function choice({
  verb,
  custom = false,
  cbor: hasCbor = false,
  plain = false,
  accept,
  query = "",
  userAgent = "",
}: Row): Promise<string> {
  let result = "";
  const run = (context: RequestContext): void => {
    if (hasCbor) Object.assign(context, { encodings: [...context.encodings, cbor] });
    context.resolved = { resource: { definition: { custom } }, version: { subresources: [] } } as unknown as Resolved;
    result = plain ? chosenPlain(context) : chosen(context, verb);
    context.exchange.respond(200, {});
  };
  await ask(run, { path: paths[verb] + query, headers: { "user-agent": userAgent, ...(accept !== "" && { accept }) } });
  return result;
}

function chosen(context: RequestContext, verb: Row["verb"]): string {
  try {
    if (context.resolved?.resource.definition.custom !== true) checkRoute(context);
    const { encoding, shape } = negotiate(context, false);
    const pretty = encoding.pretty === undefined && encoding.mediaType === "application/json" && verb !== "watch"; // Watches never are.
    return encoding.mediaType + (pretty ? " pretty" : "") + shapeText(shape);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.status.code} ${error.message}`;
  }
}

function shapeText(shape: Shape): string {
  if (shape.kind === "object") return "";
  const kind = shape.kind === "table" ? "Table" : `PartialObjectMetadata${shape.list ? "List" : ""}`;
  return ` ${kind} ${shape.version}`;
}

function chosenPlain(context: RequestContext): string {
  const encoding = negotiatePlain(context);
  if (encoding === undefined)
    return `406 only the following media types are accepted: ${namesOf(context.encodings).join(", ")}`;
  return (
    encoding.mediaType + (encoding.pretty === undefined && encoding.mediaType === "application/json" ? " pretty" : "")
  );
}

test("answers have the form that upstream's have", async () => {
  for (const line of text.toString().trim().split("\n")) {
    const row = JSON.parse(line) as Row;
    assert.equal(await choice(row), row.want, line);
  }
});

test("parses long and malformed headers in linear time", { timeout: 20_000 }, async () => {
  const long = 60_000;
  const odd = [" ", "1", ";", ",", "=", "*/"].flatMap((text) => [
    `application/json;q=${text.repeat(long)}x`,
    `a${text.repeat(long)}b`,
    text.repeat(long),
  ]);
  for (const accept of odd) await choice({ verb: "get", accept, want: "" });
  for (const text of [...odd, `application/json${" ".repeat(long)}x`]) parseMediaType(`application/json;${text}`);
});

test("accepts the alias of protobuf, which errors do not list", async () => {
  const svc = "application/vnd.svc.protobuf";
  assert.equal(await choice({ verb: "get", accept: svc, want: "" }), svc);
  assert.equal(
    await choice({ verb: "get", accept: `${svc};as=Table;v=v1;g=meta.k8s.io`, want: "" }),
    "406 only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  );
});

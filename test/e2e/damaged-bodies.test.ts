/**
 * Mutated bodies, sent to the resources of their kinds: the server answers none of them with 500.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCatalog } from "../support/builtin-catalog.ts";
import { damagedBodies } from "../support/decoder-fuzz.ts";
import { jsonWords, mutate } from "../support/mutate.ts";
import type { Answer } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const bodies = process.env.COXSWAIN_TEST_FULL === "1" ? 20_000 : 500;
/** The server accepts some seven of 500 bodies, and seldom none: then more follow. */
const bodiesMax = 10 * bodies;
const everything = "api/all=true";
const catalog = builtinCatalog(everything);

/**
 * Upstream also answers these with 500: its typed patches, strategic merges and bindings fail with
 * errors that are not a Status.
 */
const upstreamsOwn =
  /^failed to create typed patch object|does not contain declared merge key|^unable to find api field|^strconv\.ParseUint|^\[?target\.(?:kind|name): /;

const { client } = await startServerWithClient({
  runtimeConfig: everything,
  logger: { info() {}, warn() {}, error() {} },
});

/** @returns undefined for kinds that are not a resource */
function pathOf({
  group,
  version,
  kind,
}: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): string | undefined {
  const definition = catalog.findKind(group, version, kind)?.resource.definition;
  if (definition === undefined) return undefined;
  return `/${group === "" ? "api" : `apis/${group}`}/${version}/${definition.namespaced ? "namespaces/default/" : ""}${definition.resource}`;
}

function check(answer: Answer, what: string): Answer {
  const isFine = answer.status < 500 || answer.status === 503 || upstreamsOwn.test(answer.body?.message);
  assert.ok(isFine, `SEED=${what} ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer;
}

const patchTypes = [
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
] as const;
const jsonPatch = Buffer.from(
  '[{"op":"add","path":"/metadata/labels/x~1y","value":"v"},{"op":"test","path":"/metadata/name","value":"x"},' +
    '{"op":"copy","from":"/metadata/labels","path":"/metadata/annotations"},{"op":"move","from":"/metadata/labels/a","path":"/metadata/labels/b"},' +
    '{"op":"replace","path":"/spec","value":{"a":[1,null]}},{"op":"remove","path":"/metadata/annotations"},{"op":"add","path":"/metadata/finalizers/-"}]',
);
const accepted = [
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/vnd.kubernetes.protobuf",
  "application/yaml",
] as const;

test(`no mutated body is answered with 500 (SEED=${seed})`, async () => {
  // Valid metadata for every kind, so that only the mutation matters.
  const metadata = { name: "x", labels: { a: "b" }, annotations: { a: "b" } };
  const damaged = damagedBodies("json", { sampleBytesMax: 16 << 10, prepare: (object) => ({ ...object, metadata }) });
  let created = 0;
  for (let index = seed; index < seed + (created > 0 ? bodies : bodiesMax); index++) {
    const { expected, bytes } = damaged(index);
    const path = pathOf(expected);
    if (path === undefined) continue;
    const { status, body } = check(await client.send({ method: "POST", path, body: bytes }), `${index} POST ${path}`);
    if (status !== 201 || typeof body.metadata?.name !== "string") continue;
    created++;
    const object = `${path}/${encodeURIComponent(body.metadata.name)}`;
    for (const accept of accepted)
      check(await client.send({ path: object, headers: { accept } }), `${index} GET ${object} ${accept}`);
    check(
      await client.send({ method: "PUT", path: object, body: damaged(index + bodies).bytes }),
      `${index} PUT ${object}`,
    );
    const type = patchTypes[index % patchTypes.length] as string;
    const patch = { method: "PATCH", path: `${object}?fieldManager=f`, headers: { "content-type": type }, body: bytes };
    check(await client.send(patch), `${index} PATCH ${object} ${type}`);
    const operations = mutate(jsonPatch, { others: [bytes], words: jsonWords, random: seededRandom(index) });
    const jsonPatched = {
      method: "PATCH",
      path: object,
      headers: { "content-type": "application/json-patch+json" },
      body: operations,
    };
    check(await client.send(jsonPatched), `${index} PATCH ${object} ${operations}`);
    check(await client.send({ method: "DELETE", path: `${object}?gracePeriodSeconds=0` }), `${index} DELETE ${object}`);
  }
  assert.ok(created > 0);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../test/support/api-client.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { ask } from "../../test/support/request-context.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { Resolved } from "../catalog/contract.ts";
import { deleteObject } from "../http/endpoints/delete.ts";
import { serveResource } from "../http/serve.ts";
import { parseListOptions } from "../request/list-options.ts";
import { planWatch } from "./watch.ts";

const path = "/api/v1/namespaces/ns/secrets";
const broken = `${path}/broken`;
const key = "/registry/secrets/ns/broken";
const gate = "AllowUnsafeMalformedObjectDeletion=true";
const option = "ignoreStoreReadErrorWithClusterBreakingPotential";
const unsafe = { kind: "DeleteOptions", apiVersion: "v1", [option]: true };
const undecodable =
  "couldn't get version/kind; json parse error: invalid character 'o' looking for beginning of object key string";
const corruptAt = (where: string, revision: number): string =>
  `StorageError: corrupt object, Code: 7, Key: ${where}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: ${undecodable}`;

async function withBroken(
  run: (registry: MemoryRegistry["registry"], revision: number) => Promise<void>,
  featureGates = gate,
): Promise<void> {
  const { registry, create, close } = await openMemoryRegistry({ featureGates });
  await create(["/namespaces", ""], { metadata: { name: "ns" } });
  const committed = await registry.storage.commit([], [{ key, value: Buffer.from("{oops") }]);
  assert.ok(committed.ok);
  try {
    await run(registry, committed.revision);
  } finally {
    await close();
  }
}

test("a list reports which objects cannot be read", () =>
  withBroken(async (registry, revision) => {
    const { status, body } = await send(registry, `GET ${path}`);
    assert.equal(status, 500);
    assert.equal(body.reason, "StorageReadError");
    assert.equal(body.message, "failed to read one or more secrets from the storage");
    const { causes, ...details } = body.details;
    assert.deepEqual(details, { name: "list", kind: "secrets" });
    assert.equal(causes.length, 1);
    assert.equal(causes[0].reason, "UnexpectedServerResponse");
    assert.equal(causes[0].field, key);
    assert.equal(causes[0].message, corruptAt(key, revision));
  }));

for (const line of [`GET ${broken}`, `DELETE ${broken}`]) {
  test(`${line} reports why the object cannot be read`, () =>
    withBroken(async (registry, revision) => {
      const { status, body } = await send(registry, line);
      assert.equal(status, 500);
      assert.equal(body.reason, "InternalError");
      assert.equal(body.message, `Internal error occurred: ${corruptAt("/secrets/ns/broken", revision)}`);
    }));
}

const fine = `${path}/fine`;

/** In this order; requests for one object succeed, requests for all fail. */
const otherRows: [line: string, body: unknown, status: number][] = [
  [`POST ${path}`, { metadata: { name: "fine" } }, 201],
  [`POST ${path}?dryRun=All`, { metadata: { name: "other" } }, 201],
  [`POST ${path}?dryRun=All`, { metadata: { name: "fine" } }, 409],
  [`GET ${fine}`, undefined, 200],
  [`GET ${fine}?resourceVersion=0`, undefined, 200],
  [`GET ${path}/absent`, undefined, 404],
  [`PUT ${fine}`, { metadata: { name: "fine" } }, 200],
  [`MERGE ${fine}`, { metadata: { finalizers: ["x/y"] } }, 200],
  [`DELETE ${fine}`, undefined, 200],
  [`MERGE ${fine}`, { metadata: { finalizers: null } }, 200],
  [`GET ${fine}`, undefined, 404],
  [`POST ${path}`, { metadata: { name: "broken" } }, 409],
  [`POST ${path}?dryRun=All`, { metadata: { name: "broken" } }, 201],
  [`PUT ${broken}`, { metadata: { name: "broken" } }, 500],
  [`DELETE ${path}`, undefined, 500],
  [`GET ${path}`, undefined, 500],
];

test("other objects of the kind can be read and written individually", () =>
  withBroken(async (registry) => {
    for (const [line, sent, status] of otherRows) {
      const answer = await send(registry, line, sent);
      assert.equal(answer.status, status, `${line}: ${answer.body.message}`);
    }
  }));

test("a watch of the kind fails", () =>
  withBroken(async ({ catalog }, revision) => {
    const { resource } = catalog.find("", "v1", "secrets") as Resolved;
    const options = parseListOptions(new URLSearchParams("watch=1"));
    const error = await planWatch(resource, { namespace: "ns", name: "", options, initialEvents: true }).then(
      ({ startError }) => startError,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      [error.status.code, error.status.reason, error.status.details?.causes?.[0]?.message],
      [500, "StorageReadError", corruptAt(key, revision)],
    );
  }));

test("a permitted client removes it; afterwards all objects can be read", () =>
  withBroken(async (registry) => {
    const { status, body } = await send(registry, `DELETE ${broken}`, unsafe);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "broken", kind: "Secret" },
      code: 200,
    });
    assert.equal((await send(registry, `GET ${broken}`)).status, 404);
    assert.deepEqual((await send(registry, `GET ${path}`)).body.items, []);
  }));

test("an object that can be read or does not exist is not removed by the option", () =>
  withBroken(async (registry) => {
    await send(registry, `POST ${path}`, { metadata: { name: "fine" } });
    for (const name of ["fine", "absent"]) {
      const { status, body } = await send(registry, `DELETE ${path}/${name}`, unsafe);
      assert.equal(status, 422);
      const text = "is exclusively used to delete corrupt object(s), try again by removing this option";
      assert.equal(body.message, `secrets "${name}" is invalid: ${option}: Invalid value: true: ${text}`);
    }
  }));

test("the option does not apply to a namespace", () =>
  withBroken(async (registry) => {
    const { status, body } = await send(registry, "DELETE /api/v1/namespaces/ns", unsafe);
    assert.equal(
      `${status} ${body.message}`,
      `500 Internal error occurred: no unsafe deleter provided, can not honor ${option}`,
    );
  }));

test("the option does not apply to a collection", () =>
  withBroken(async (registry) => {
    const { status, body } = await send(registry, `DELETE ${path}`, unsafe);
    assert.equal(status, 422);
    const text = "is not allowed with DELETECOLLECTION, try again after removing the option";
    assert.equal(body.message, `DeleteOptions.meta.k8s.io "" is invalid: ${option}: Invalid value: true: ${text}`);
  }));

test("the option excludes other options", () =>
  withBroken(async (registry) => {
    const { status, body } = await send(registry, `DELETE ${broken}`, { ...unsafe, gracePeriodSeconds: 0 });
    assert.equal(status, 422);
    assert.match(body.message, /cannot be set together with \.gracePeriodSeconds/);
  }));

test("the option does nothing without the gate", () =>
  withBroken(async (registry) => {
    const { status, body } = await send(registry, `DELETE ${broken}`, unsafe);
    assert.deepEqual([status, body.reason, body.message], [500, undefined, undecodable]);
  }, ""));

test("without the gate, errors do not name the object", () =>
  withBroken(async (registry) => {
    for (const request of [`GET ${path}`, `GET ${broken}`]) {
      const { status, body } = await send(registry, request);
      assert.deepEqual([status, body.reason, body.message], [500, undefined, undecodable]);
    }
  }, ""));

test("permission to delete is not sufficient for the option", () =>
  withBroken(async (registry) => {
    const verbs: string[] = [];
    const response = ask(
      (context) =>
        serveResource(context, registry, {
          verbs: {
            delete: (one, all) =>
              deleteObject(one, all, ({ verb }) => {
                verbs.push(verb);
                return { decision: "noOpinion", reason: "no rule" };
              }),
          },
          computed: {},
          subresources: {},
        }),
      {
        method: "DELETE",
        path: broken,
        body: Buffer.from(JSON.stringify(unsafe)),
        headers: { "content-type": "application/json" },
      },
    );
    const text =
      'secrets "broken" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: no rule';
    await assert.rejects(
      response,
      (error) => error instanceof ApiError && error.status.code === 403 && error.message === text,
    );
    assert.deepEqual(verbs, ["unsafe-delete-ignore-read-errors"]);
    assert.notEqual(await registry.storage.get(key), undefined);
  }));

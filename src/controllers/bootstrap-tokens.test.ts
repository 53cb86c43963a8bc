import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { type ManualClock, manualClock } from "../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import { until } from "../../test/support/until.ts";
import { bootstrapExpiration, bootstrapGroups } from "../apimachinery/bootstrap-token.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { bootstrapTokenAuthenticator } from "../authentication/bootstrap-token.ts";
import { liveObjects } from "../server/live-objects.ts";
import { bootstrapSigner } from "./bootstrap-signer.ts";
import { tokenCleaner } from "./token-cleaner.ts";

const startMs = Date.UTC(2026, 0, 1);
const secrets: Place = ["/secrets", "kube-system"];
const configMaps: Place = ["/configmaps", "kube-public"];
const silent = { info() {}, warn() {}, error() {} };
const day = "2026-01-02T00:00:00Z";

type Data = Readonly<Record<string, string | undefined>>;
const whole: Data = {
  "token-id": "abcdef",
  "token-secret": "0123456789abcdef",
  "usage-bootstrap-authentication": "true",
  "usage-bootstrap-signing": "true",
};

function secret(
  data: Data,
  {
    name = "bootstrap-token-abcdef",
    type = "bootstrap.kubernetes.io/token",
    ...metadata
  }: Readonly<Record<string, unknown>> = {},
) {
  const encoded = Object.entries(data).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, Buffer.from(value).toString("base64")]],
  );
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: name as string, ...metadata },
    type,
    data: Object.fromEntries(encoded),
  };
}

async function withRegistry(run: (memory: MemoryRegistry, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = manualClock(startMs);
  const memory = await openMemoryRegistry({ clock });
  try {
    for (const name of ["kube-system", "kube-public", "other"]) {
      await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    await run(memory, clock);
  } finally {
    await memory.close();
  }
}

const token = "abcdef.0123456789abcdef";
const extra = "auth-extra-groups";
const long = `system:bootstrappers:${"a".repeat(256)}`;

/** `groups` is undefined when the token is rejected. */
const tokenRows: [
  what: string,
  object: ReturnType<typeof secret>,
  groups: readonly string[] | undefined,
  token?: string,
  namespace?: string,
][] = [
  ["a valid secret", secret(whole), ["system:bootstrappers"]],
  [
    "extra groups",
    secret({ ...whole, [extra]: "system:bootstrappers:z,system:bootstrappers:a:b-1,system:bootstrappers:z" }),
    ["system:bootstrappers", "system:bootstrappers:a:b-1", "system:bootstrappers:z"],
  ],
  ["the longest group", secret({ ...whole, [extra]: long }), ["system:bootstrappers", long]],
  ["a group too long", secret({ ...whole, [extra]: `${long}a` }), undefined],
  ["a group with another prefix", secret({ ...whole, [extra]: "system:masters" }), undefined],
  [
    "a group with another prefix after a valid one",
    secret({ ...whole, [extra]: "system:bootstrappers:a,system:masters" }),
    undefined,
  ],
  ["a group with a newline", secret({ ...whole, [extra]: "system:bootstrappers:a\n" }), undefined],
  ["a group with a space", secret({ ...whole, [extra]: "system:bootstrappers:a, system:bootstrappers:b" }), undefined],
  ["a group without a name", secret({ ...whole, [extra]: "system:bootstrappers:" }), undefined],
  ["not expired", secret({ ...whole, expiration: day }), ["system:bootstrappers"]],
  ["expired this second", secret({ ...whole, expiration: "2026-01-01T00:00:00Z" }), undefined],
  [
    "not expired, in another zone",
    secret({ ...whole, expiration: "2026-01-01T00:30:00-01:00" }),
    ["system:bootstrappers"],
  ],
  ["expired, in another zone", secret({ ...whole, expiration: "2026-01-01T00:30:00+01:00" }), undefined],
  ["an expiration that is not a time", secret({ ...whole, expiration: "2027" }), undefined],
  ["an expiration without a zone", secret({ ...whole, expiration: "2027-01-01T00:00:00" }), undefined],
  ["an empty expiration", secret({ ...whole, expiration: "" }), ["system:bootstrappers"]],
  ["not for authentication", secret({ ...whole, "usage-bootstrap-authentication": undefined }), undefined],
  [
    "usage for authentication with another spelling",
    secret({ ...whole, "usage-bootstrap-authentication": "True" }),
    undefined,
  ],
  ["another id", secret({ ...whole, "token-id": "abcdeg" }), undefined],
  ["no id", secret({ ...whole, "token-id": undefined }), undefined],
  ["no secret", secret({ ...whole, "token-secret": undefined }), undefined],
  ["another type", secret(whole, { type: "Opaque" }), undefined],
  ["another name", secret(whole, { name: "bootstrap-token-abcdeg" }), undefined],
  [
    "another name, with a token that has the id of the name",
    secret(whole, { name: "bootstrap-token-abcdeg" }),
    undefined,
    "abcdeg.0123456789abcdef",
  ],
  ["another namespace", secret(whole), undefined, token, "other"],
  ["another secret part", secret(whole), undefined, "abcdef.0123456789abcdeg"],
  [
    "a shorter secret part",
    secret({ ...whole, "token-secret": "0123456789abcde" }),
    undefined,
    "abcdef.0123456789abcde",
  ],
  [
    "a longer secret part",
    secret({ ...whole, "token-secret": "0123456789abcdefg" }),
    undefined,
    "abcdef.0123456789abcdefg",
  ],
  ["upper case", secret({ ...whole, "token-secret": "0123456789ABCDEF" }), undefined, "abcdef.0123456789ABCDEF"],
  ["a trailing newline", secret(whole), undefined, `${token}\n`],
  ["a key of Object.prototype", secret({}), undefined, "abcdef.0123456789abcdef"],
];
for (const [what, object, groups, bearer = token, namespace = "kube-system"] of tokenRows) {
  test(`bootstrap tokens: ${what}`, () =>
    withRegistry(async ({ create, registry }, clock) => {
      await create(["/secrets", namespace], object);
      const authenticate = bootstrapTokenAuthenticator({ live: liveObjects(registry.catalog), clock });
      const answer = await authenticate(bearer, ["api"]);
      const user = answer && "user" in answer ? answer.user : undefined;
      assert.deepEqual(user, groups && { name: "system:bootstrap:abcdef", uid: "", groups, extra: new Map() });
      assert.ok(answer === undefined || user !== undefined);
    }));
}

/** Recorded with `k8s.io/cluster-bootstrap` v0.36.0, at the start of 2026. */
const expirations: [expiration: string, expired: boolean][] = [
  ["2026-01-01T00:00:00Z", true],
  ["2026-01-01T00:00:00.5Z", false],
  ["2026-01-01t00:00:01z", true],
  ["2026-1-1T00:00:01Z", true],
  ["2026-01-01T0:00:01Z", false],
  ["2026-01-01 00:00:01Z", true],
  ["2026-01-01T00:00:60Z", true],
  ["2026-01-01T24:00:00Z", true],
  [" 2026-01-02T00:00:00Z", true],
  ["2026-01-02T00:00:00Z\n", true],
  ["2026-02-30T00:00:00Z", true],
  ["2026-01-02T00:00:00+24:00", true],
  ["9999-12-31T23:59:59Z", false],
  ["0001-01-01T00:00:00Z", true],
  ["2026-01-01T00:00:01,5Z", false],
  ["2026-01-01T00:00:00+00:00", true],
];
for (const [expiration, expired] of expirations) {
  test(`bootstrap tokens that expire at ${JSON.stringify(expiration)}`, () => {
    const at = bootstrapExpiration(secret({ ...whole, expiration }) as unknown as KubeObject);
    assert.equal(startMs >= (at ?? Number.POSITIVE_INFINITY), expired);
  });
}

const extraGroups: [groups: string, want: string[] | undefined][] = [
  ["system:bootstrappers:a", ["system:bootstrappers", "system:bootstrappers:a"]],
  ["system:bootstrappers:-", undefined],
  ["system:bootstrappers::", undefined],
  ["system:bootstrappers:a:", undefined],
  ["system:bootstrappers:A", undefined],
  ["", ["system:bootstrappers"]],
  [",", undefined],
  ["system:bootstrappers:a,", undefined],
  ["system:bootstrappers", undefined],
];
for (const [groups, want] of extraGroups) {
  test(`bootstrap tokens with the groups ${JSON.stringify(groups)}`, () =>
    assert.deepEqual(bootstrapGroups(secret({ ...whole, [extra]: groups }) as unknown as KubeObject), want));
}

test("bootstrap tokens: a cached authentication ends with any change of the secret", () =>
  withRegistry(async (memory, clock) => {
    const authenticate = bootstrapTokenAuthenticator({ live: liveObjects(memory.registry.catalog), clock });
    const accepted = async () => {
      const answer = await authenticate(token, ["api"]);
      assert.ok(answer !== undefined && "user" in answer);
      return answer;
    };
    await memory.create(secrets, secret({ ...whole, expiration: day }));
    const first = await accepted();
    assert.deepEqual([first.expiresAt, first.isStillValid?.()], [Date.parse(day), true]);
    await memory.change(secrets, "bootstrap-token-abcdef", (object) => {
      object.metadata.labels = { a: "b" };
    });
    assert.equal(first.isStillValid?.(), false);
    const second = await accepted();
    await memory.delete(secrets, "bootstrap-token-abcdef");
    assert.equal(second.isStillValid?.(), false);
    await memory.create(secrets, secret(whole));
    assert.equal(second.isStillValid?.(), false);
    await memory.create(
      secrets,
      secret({ ...whole, "token-id": "fedcba" }, { name: "bootstrap-token-fedcba", finalizers: ["a.io/b"] }),
    );
    const other = await authenticate("fedcba.0123456789abcdef", ["api"]);
    assert.ok(other !== undefined && "user" in other);
    await memory.delete(secrets, "bootstrap-token-fedcba");
    assert.equal(await authenticate("fedcba.0123456789abcdef", ["api"]), undefined, "one that is being deleted");
  }));

test("the token cleaner deletes tokens when they expire, and no others", () =>
  withRegistry(async (memory, clock) => {
    const names = async (): Promise<string[]> => {
      const found = await Promise.all(
        ["a", "b", "c", "d", "e"].map((id) => memory.find(secrets, `bootstrap-token-${id.repeat(6)}`)),
      );
      return found.flatMap((object) => object?.metadata.name?.slice(-1) ?? []);
    };
    const make = (id: string, expiration?: string, more = {}): Promise<unknown> =>
      memory.create(
        secrets,
        secret(
          { ...whole, "token-id": id.repeat(6), expiration },
          { name: `bootstrap-token-${id.repeat(6)}`, ...more },
        ),
      );
    await make("a", "2025-01-01T00:00:00Z");
    await make("b", day);
    await make("c");
    await make("d", "2025-01-01T00:00:00Z", { type: "Opaque" });
    await memory.create(["/secrets", "other"], secret({ ...whole, expiration: "2025-01-01T00:00:00Z" }));
    const cleaner = tokenCleaner({ registry: memory.registry, logger: silent });
    cleaner.start();
    await until(async () => (await names()).join("") === "bcd");
    await make("e", "2026-03-01T00:00:00Z");
    await until(async () => (await names()).includes("e"));
    clock.advance(24 * 3600_000 - 1);
    assert.equal((await names()).join(""), "bcde");
    clock.advance(1);
    await until(async () => (await names()).join("") === "cde");
    clock.advance(60 * 24 * 3600_000);
    await until(async () => (await names()).join("") === "cd");
    assert.notEqual(await memory.find(["/secrets", "other"], "bootstrap-token-abcdef"), undefined);
    await cleaner.stop();
  }));

function signature(content: string, id: string, key: string): string {
  const encoded = (text: string): string => Buffer.from(text).toString("base64url");
  const header = encoded(`{"alg":"HS256","kid":"${id}"}`);
  return `${header}..${createHmac("sha256", key)
    .update(`${header}.${encoded(content)}`)
    .digest("base64url")}`;
}

test("the bootstrap signer signs with each token that is enabled for signing and has not expired", () =>
  withRegistry(async (memory, clock) => {
    const data = async (): Promise<unknown> => (await memory.find(configMaps, "cluster-info"))?.data;
    const becomes = async (want: Data): Promise<void> => {
      await until(async () => {
        clock.advance(10); // The controller retries after a concurrent write.
        return JSON.stringify(await data()) === JSON.stringify(want);
      });
    };
    const make = (id: string, more: Data = {}): Promise<unknown> =>
      memory.create(
        secrets,
        secret({ ...whole, "token-id": id, "token-secret": id.repeat(2), ...more }, { name: `bootstrap-token-${id}` }),
      );
    const key = (id: string): string => `jws-kubeconfig-${id}`;
    await make("aaaaaa");
    await make("bbbbbb", { expiration: day });
    await make("cccccc", { "usage-bootstrap-signing": "false" });
    await make("dddddd", { expiration: "2025-01-01T00:00:00Z" });
    await make("eeeeee", { "token-id": "aaaaab" });
    const signer = bootstrapSigner({ registry: memory.registry, logger: silent });
    signer.start();
    await memory.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "cluster-info" },
      data: { other: "x", [key("gggggg")]: "old" },
    });
    await memory.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "cluster-info-2" },
      data: { kubeconfig: "x" },
    });
    await memory.change(configMaps, "cluster-info", (object) => {
      object.data.kubeconfig = "config";
    });
    const signed = (content: string, ...ids: string[]): Data => ({
      ...Object.fromEntries(ids.map((id) => [key(id), signature(content, id, id.repeat(2))])),
      kubeconfig: content,
      other: "x",
    });
    await becomes(signed("config", "aaaaaa", "bbbbbb"));
    await memory.change(configMaps, "cluster-info", (object) => {
      object.data.kubeconfig = "cönfig";
    });
    await becomes(signed("cönfig", "aaaaaa", "bbbbbb"));
    // As cluster-bootstrap v0.36.0 signs.
    assert.equal(
      signature("cönfig\n", "abcdef", "0123456789abcdef"),
      "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..bENzVAtZkUmPhhKUExtu1jceKHGIt_z33_DBCUTECJs",
    );
    await memory.change(configMaps, "cluster-info", (object) => {
      object.data[key("aaaaaa")] = "forged";
    });
    await becomes(signed("cönfig", "aaaaaa", "bbbbbb"));
    clock.advance(24 * 3600_000);
    await becomes(signed("cönfig", "aaaaaa"));
    await memory.delete(secrets, "bootstrap-token-aaaaaa");
    await becomes(signed("cönfig"));
    assert.deepEqual((await memory.find(configMaps, "cluster-info-2"))?.data, { kubeconfig: "x" });
    await signer.stop();
  }));

/** `/statusz` and `/flagz`: answers are those of kube-apiserver 1.36, except for the separator of their text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { startServerWithClient } from "../../../test/support/server-with-client.ts";

const clock = manualClock(Date.parse("2026-11-03T08:05:06Z"));
const flags = { "secure-port": "6443", "authorization-mode": "[Node,RBAC]", v: "0" };
const { client } = await startServerWithClient({ clock, flags });
await clock.advance(3_723_000);
const { client: bare } = await startServerWithClient({ featureGates: "ComponentStatusz=false" });
const goVersion = `node${process.version}`;
const as = (kind: string, version: string, type = "application/json"): string =>
  `${type};v=${version};g=config.k8s.io;as=${kind}`;
const get = (path: string, accept?: string) => client.send({ path, headers: accept === undefined ? {} : { accept } });

const statusText = `
apiserver statusz
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.

Started: Tue Nov  3 08:05:06 UTC 2026
Up: 1 hr 02 min 03 sec
Go version: ${goVersion}
Binary version: 1.36.0
Emulation version: 1.36
Paths: /flagz /healthz /livez /metrics /readyz /statusz /version
`;
const flagsText = `
apiserver flagz
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.
authorization-mode: [Node,RBAC]
secure-port: 6443
v: 0
`;

for (const [path, accept, text] of [
  ["/statusz", undefined, statusText],
  ["/statusz", "text/plain", statusText],
  ["/statusz", "*/*", statusText],
  ["/statusz", `${as("Flagz", "v1beta1")}, text/plain`, statusText],
  ["/flagz", undefined, flagsText],
  ["/flagz", "text/*", flagsText],
] as const) {
  test(`text of ${path} for ${accept}`, async () => {
    const answer = await get(path, accept);
    assert.deepEqual(
      [answer.status, answer.headers["content-type"], answer.text],
      [200, "text/plain; charset=utf-8", text],
    );
  });
}

for (const [path, kind, fields] of [
  [
    "/statusz",
    "Statusz",
    {
      startTime: "2026-11-03T08:05:06Z",
      uptimeSeconds: 3723,
      goVersion,
      binaryVersion: "1.36.0",
      emulationVersion: "1.36",
      paths: ["/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"],
    },
  ],
  ["/flagz", "Flagz", { flags }],
] as const) {
  test(`${path} as ${kind}`, async () => {
    for (const [version, warning] of [
      ["v1beta1", undefined],
      [
        "v1alpha1",
        `299 - "This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`,
      ],
    ] as const) {
      const answer = await get(path, as(kind, version));
      assert.deepEqual(
        [answer.status, answer.headers["content-type"], answer.headers.warning],
        [200, `application/json;g=config.k8s.io;v=${version};as=${kind}`, warning],
      );
      const apiVersion = `config.k8s.io/${version}`;
      assert.deepEqual(answer.body, { kind, apiVersion, metadata: { name: "apiserver" }, ...fields });
    }
    const yaml = await get(path, as(kind, "v1beta1", "application/yaml"));
    assert.match(yaml.text, new RegExp(`^apiVersion: config.k8s.io/v1beta1\n[^]*\nkind: ${kind}\n`));
  });
}

test("other forms are not acceptable", async () => {
  for (const accept of [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "text/html",
    as("Statusz", "v1"),
    as("Flagz", "v1beta1"),
    as("Statusz", "v1beta1", "application/vnd.kubernetes.protobuf"),
  ]) {
    const { status, text } = await get("/statusz", accept);
    assert.equal(status, 406, accept);
    assert.match(
      text,
      /only the following media types are accepted: application\/json, application\/yaml,\s+text\/plain/,
      accept,
    );
  }
});

test("each method is answered alike, and paths below are not found", async () => {
  const post = await client.send({ method: "POST", path: "/statusz" });
  assert.deepEqual([post.status, post.text], [200, statusText]);
  assert.equal((await get("/statusz/x")).status, 404);
});

test("the pages need the right on their path", async () => {
  const { status, body } = await client.send({ path: "/flagz", headers: { "impersonate-user": "ann" } });
  assert.deepEqual([status, body.message], [403, 'forbidden: User "ann" cannot get path "/flagz"']);
});

test("a server without flags, or without the gates, has no page", async () => {
  for (const path of ["/flagz", "/statusz"]) assert.equal((await bare.send({ path })).status, 404, path);
});

/**
 * No secret reaches a recording. Each row sends or receives a planted secret somewhere; afterwards the
 * recording is searched for it in every form.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { encodeCbor } from "../../lib/cbor/encode.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../lib/protobuf/envelope.ts";
import type { RecordedBody } from "./format.ts";
import { recordedBody } from "./read-body.ts";
import { newSecrets } from "./secrets.ts";
import { newSession } from "./session.ts";
import { readTarget } from "./target.ts";

const planted = 'Pl4nted "secret"/+?&\n=value';
const short = "p1";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s" },
  data: { a: base64(planted), b: base64(short) },
};
const { kind: _kind, apiVersion: _version, ...item } = secret;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const lastApplied = (text: string): object => ({
  metadata: { name: "d", annotations: { "kubectl.kubernetes.io/last-applied-configuration": text } },
});

interface Part {
  readonly url: string;
  readonly bytes?: Buffer;
  readonly contentType?: string;
  readonly contentEncoding?: string;
}

const secrets = "/api/v1/namespaces/default/secrets";
const pods = "/api/v1/namespaces/default/pods";
/** Rows after this one find the secret where nothing says that it is one. */
const known: Part = { url: `${secrets}/s`, bytes: json(secret) };
const event = (message: string): Part => ({
  url: "/api/v1/namespaces/default/events",
  bytes: json({ apiVersion: "v1", kind: "Event", message }),
});

const beforeSecret = "an Event before the Secret is seen";
const schema = builtinSchema("io.k8s.api.core.v1.Secret");
const rows: [title: string, ...parts: Part[]][] = [
  ["a Secret", known],
  [
    "stringData",
    { url: secrets, bytes: json({ kind: "Secret", apiVersion: "v1", stringData: { a: planted, b: short } }) },
  ],
  ["data that is no base64", { url: secrets, bytes: json({ data: { a: planted } }) }],
  [
    "data of another shape",
    { url: secrets, bytes: json({ data: [[planted, { deep: planted }]], Data: { a: planted } }) },
  ],
  ["a list without kinds", { url: secrets, bytes: json({ kind: "SecretList", apiVersion: "v1", items: [item] }) }],
  ["a list of kinds", { url: "/api/v1/unknown", bytes: json({ kind: "List", apiVersion: "v1", items: [secret] }) }],
  ["an event of a watch", { url: `${secrets}?watch=1`, bytes: json({ type: "ADDED", object: secret }) }],
  ["a Table with objects", { url: secrets, bytes: json({ kind: "Table", rows: [{ cells: ["s"], object: secret }] }) }],
  [
    "YAML",
    {
      url: secrets,
      bytes: Buffer.from(`kind: Secret\nstringData:\n  a: ${JSON.stringify(planted)}\n`),
      contentType: "application/yaml",
    },
  ],
  [
    "a merge patch",
    { url: `${secrets}/s`, bytes: json({ data: { a: base64(planted) } }), contentType: "application/merge-patch+json" },
  ],
  [
    "a JSON patch",
    {
      url: `${secrets}/s`,
      bytes: json([
        { op: "add", path: "/data/a", value: base64(planted) },
        { op: "test", path: "/stringData", value: { a: planted } },
        { op: "replace", path: "", value: secret },
      ]),
      contentType: "application/json-patch+json",
    },
  ],
  ["server-side apply", { url: `${secrets}/s`, bytes: json(secret), contentType: "application/apply-patch+yaml" }],
  [
    "protobuf",
    {
      url: secrets,
      bytes: wrapInEnvelope("v1", "Secret", encodeProtobuf(secret, schema)),
      contentType: "application/vnd.kubernetes.protobuf",
    },
  ],
  [
    "protobuf of an unknown kind",
    {
      url: secrets,
      bytes: wrapInEnvelope("v9", "Secret", encodeProtobuf(secret, schema)),
      contentType: "application/vnd.kubernetes.protobuf",
    },
  ],
  ["CBOR", { url: secrets, bytes: encodeCbor(secret, schema), contentType: "application/cbor" }],
  ["gzip", { url: secrets, bytes: gzipSync(json(secret)), contentEncoding: "gzip" }],
  ["damaged JSON", { url: secrets, bytes: json(secret).subarray(0, -1) }],
  ["too deep JSON", { url: secrets, bytes: Buffer.from(`${"[".repeat(5000)}"${base64(planted)}"${"]".repeat(5000)}`) }],
  ["an unknown encoding", { url: secrets, bytes: json(secret), contentType: "application/x-unknown" }],
  [
    "OpenAPI cannot be claimed",
    { url: `${pods}/openapi/v2`, bytes: json(secret), contentType: "application/x-protobuf" },
  ],
  ["a last-applied annotation", { url: pods, bytes: json(lastApplied(JSON.stringify(secret))) }],
  ["a last-applied annotation that is no JSON", { url: pods, bytes: json(lastApplied(planted)) }],
  [
    "a patch of a last-applied annotation",
    {
      url: pods,
      bytes: json([
        { op: "add", path: "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration", value: planted },
      ]),
    },
  ],
  [
    "a TokenRequest",
    { url: "/api/v1/namespaces/default/serviceaccounts/a/token", bytes: json({ status: { token: planted } }) },
  ],
  [
    "a TokenReview",
    {
      url: "/apis/authentication.k8s.io/v1/tokenreviews",
      bytes: json({ kind: "TokenReview", spec: { token: planted } }),
    },
  ],
  ["a query", known, { url: `${pods}?labelSelector=${encodeURIComponent(planted)}` }],
  [
    "a query with other escapes",
    known,
    { url: `${pods}?a=${[...Buffer.from(planted)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")}` },
  ],
  ["a path", known, { url: `${pods}/${encodeURIComponent(planted)}` }],
  ["a path that is not UTF-8", known, { url: `${pods}/%ff${encodeURIComponent(planted)}` }],
  ["the command of exec", { url: `${pods}/p/exec?command=${encodeURIComponent(planted)}` }],
  [
    "a proxied path",
    {
      url: `/api/v1/namespaces/default/services/s/proxy/${encodeURIComponent(planted)}?q=${encodeURIComponent(planted)}`,
    },
  ],
  ["a proxied body", { url: "/api/v1/namespaces/default/services/s/proxy/", bytes: json({ a: planted }) }],
  ["a log", { url: `${pods}/p/log`, bytes: Buffer.from(planted), contentType: "text/plain" }],
  ["an Event", known, event(`cannot use ${planted}`)],
  [beforeSecret, event(`cannot use ${planted}`), known],
  ["a quoted text in an Event", known, event(JSON.stringify(JSON.stringify({ a: planted })))],
  ["base64 in an Event", known, event(base64(planted))],
  ["base64 of base64", known, event(base64(base64(planted)))],
  [
    "base64 at an offset",
    known,
    event(base64(`u:${planted}`)),
    event(base64(`us:${planted}!`)),
    event(base64(`user:${planted}`)),
  ],
  ["base64 for URLs", known, event(Buffer.from(planted).toString("base64url"))],
  [
    "hex",
    known,
    event(Buffer.from(planted).toString("hex")),
    event(Buffer.from(planted).toString("hex").toUpperCase()),
  ],
  ["a key", known, { url: pods, bytes: json({ kind: "ConfigMap", data: { [planted]: "a" } }) }],
  [
    "an error",
    known,
    { url: `${secrets}/s`, bytes: json({ kind: "Status", message: `Invalid value: ${JSON.stringify(planted)}` }) },
  ],
  ["plain text", known, { url: "/healthz", bytes: Buffer.from(planted), contentType: "text/plain" }],
  [
    "the credentials of a registry",
    {
      url: secrets,
      bytes: json({ data: { ".dockerconfigjson": base64(JSON.stringify({ auths: { r: { password: planted } } })) } }),
    },
    event(planted),
  ],
  [
    "a line of a file",
    { url: secrets, bytes: json({ stringData: { file: `user=a\npassword: "${planted.split("\n")[0]}"\n` } }) },
    event(planted.split("\n")[0] as string),
  ],
];

const forms = [
  planted,
  JSON.stringify(planted).slice(1, -1),
  base64(planted).slice(0, 30),
  base64(`u:${planted}`).slice(4, 32),
  base64(`us:${planted}`).slice(4, 32),
  base64(base64(planted)).slice(0, 30),
  Buffer.from(planted).toString("hex"),
  encodeURIComponent(planted),
  'Pl4nted \\"secret',
  "Pl4nted",
];

for (const [title, ...parts] of rows) {
  test(`${title} is not recorded`, () => {
    const { during, complete } = record(parts);
    // Until a Secret is seen, a text that will turn out to be its value cannot be recognized.
    for (const recording of title === beforeSecret ? [complete] : [during, complete]) {
      for (const form of forms)
        assert.ok(!recording.toLowerCase().includes(form.toLowerCase()), `${form} in ${recording}`);
      assert.ok(!recording.includes(base64(short)));
      assert.match(recording, /redacted-|omitted|cmVkYWN0ZWQt/);
    }
  });
}

/** @returns what is written during the session, and at its end */
function record(parts: readonly Part[]): { during: string; complete: string } {
  const found = newSecrets();
  const lines: string[] = [];
  const session = newSession({ secrets: found, append: (line) => lines.push(line) });
  for (const { url, bytes = Buffer.alloc(0), contentType = "application/json", contentEncoding = "" } of parts) {
    const target = readTarget(url, found);
    const exchange = session.begin({ method: "GET", path: target.path, query: target.query });
    const options = { secrets: found, confidential: target.confidential, keepsLastApplied: false };
    const body: RecordedBody | undefined = recordedBody({ bytes, contentType, contentEncoding }, target, options);
    if (body !== undefined) exchange.body(body);
  }
  return { during: lines.join("\n"), complete: lines.map(session.clean).join("\n") };
}

test("a secret has the same placeholder everywhere in a recording, and another one in the next", () => {
  const text = "Another-1234";
  const parts: Part[] = [
    { url: secrets, bytes: json({ stringData: { a: text }, data: { b: base64(text) } }) },
    event(text),
  ];
  const [first, second] = [record(parts), record(parts)].map(({ during }) => [
    ...new Set(
      [...during.matchAll(/redacted-[0-9a-f]{24}|cmVkYWN0ZWQt[A-Za-z0-9+/]{32}/g)].map(([found]) =>
        found.startsWith("cmV") ? Buffer.from(found, "base64").toString() : found,
      ),
    ),
  ]);
  assert.equal(first?.length, 1);
  assert.notDeepEqual(first, second);
});

test("ordinary words in Secrets do not change other objects", () => {
  const words = ["default", "kube-system", "postgres", "true"];
  const { complete } = record([
    { url: secrets, bytes: json({ data: Object.fromEntries(words.map((word) => [word, base64(word)])) }) },
    event(words.join(" ")),
  ]);
  assert.ok(complete.includes(words.join(" ")));
});

test("the last-applied annotation is kept on request, except on Secrets", () => {
  const found = newSecrets();
  const target = readTarget(pods, found);
  const read = (text: string): unknown => {
    const body = { bytes: json(lastApplied(text)), contentType: "application/json", contentEncoding: "" };
    return recordedBody(body, target, { secrets: found, confidential: undefined, keepsLastApplied: true });
  };
  const applied = JSON.stringify({ kind: "ConfigMap", data: { a: "b" } });
  assert.deepEqual(read(applied), { json: lastApplied(applied) });
  assert.doesNotMatch(JSON.stringify(read(JSON.stringify(secret))), /stringData|"data|Secret/);
});

test("a session that is too long omits bodies", () => {
  const lines: string[] = [];
  const session = newSession({ secrets: newSecrets(), append: (line) => lines.push(line), lengthMax: 300 });
  const exchange = session.begin({ method: "GET", path: "/a", query: [] });
  exchange.answer({ status: 200, headers: {}, body: { text: "a".repeat(300) } });
  assert.match(lines.join("\n"), /"body":\{"omitted":"the recording is full"\}/);
});

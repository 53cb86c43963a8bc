/**
 * Requests that no correct client sends: each gets upstream's Status or a closed connection, and
 * changes nothing.
 */
import assert from "node:assert/strict";
import net from "node:net";
import { before, describe, test } from "node:test";
import type { RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const merge = { "content-type": "application/merge-patch+json" };
const configMap = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});
const nested = (levels: number): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"deep":${"[".repeat(levels)}${"]".repeat(levels)}}`;

type Row = [what: string, request: RawRequest, status: number, text: RegExp];

const label = "a lowercase RFC 1123 subdomain must consist of";
const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const named = (path: string, metadata: object, more: object = {}): RawRequest => ({
  method: "POST",
  path: `${path}?dryRun=All`,
  body: { metadata, ...more },
});
const budget = { spec: { minAvailable: 1 } };

const nameRows: Row[] = [
  [
    "a role with the prefix .",
    named(roles, { generateName: "." }),
    422,
    /generateName: Invalid value: .*may not be .\.'"/,
  ],
  [
    "a role with a name and the prefix ..",
    named(roles, { name: "m", generateName: ".." }),
    422,
    /"Role.rbac.authorization.k8s.io \\"m\\" is invalid: metadata.generateName: Invalid value: \\"..\\": may not be '..'"/,
  ],
  [
    "a prefix whose last character before the dash has two bytes",
    named(configMaps, { name: "m", generateName: "é-" }),
    422,
    new RegExp(`"ConfigMap .* is invalid: metadata.generateName: Invalid value: .*"é-.*": ${label}`),
  ],
  ["a dash after a dash in a prefix", named(configMaps, { name: "m", generateName: "--" }), 201, /"name":"m"/],
  ["a long prefix of two-byte characters", named(roles, { generateName: "xé".repeat(30) }), 201, /"(xé){19}x.{5}"/],
  ["a budget with any path segment as name", named(budgets, { name: "A_" }, budget), 201, /"name":"A_"/],
  ["a budget with the prefix ..", named(budgets, { generateName: ".." }, budget), 201, /"name":"\.\..{5}"/],
  [
    "a budget with a slash in its name",
    named(budgets, { name: "a/" }, budget),
    422,
    /is invalid: metadata.name: Invalid value: .*"a\/.*": may not contain '\/'"/,
  ],
  [
    "a budget with a name and a prefix with a percent sign",
    named(budgets, { name: "m", generateName: "a%" }, budget),
    422,
    /is invalid: metadata.generateName: Invalid value: .*"a%.*": may not contain '%'"/,
  ],
  [
    "a signing request with a wrong name, and nothing else",
    named(requests, { name: "a/" }),
    422,
    /is invalid: \[spec\.(?!.*metadata)/,
  ],
  ["an endpoint of health with a slash at its end", { path: "/livez/" }, 404, /^404 page not found\n$/],
  ["a check that does not exist", { path: "/readyz/nope" }, 404, /^404 page not found\n$/],
  ["POST of the list of paths", { method: "POST", path: "/index.html", body: "" }, 200, /"\/healthz\/ping"/],
  [
    "the namespace .",
    { path: "/api/v1/namespaces/./configmaps" },
    500,
    /"message":"invalid key: .*"\/configmaps\/\..*","code":500/,
  ],
  [
    "the namespace ..",
    { path: "/api/v1/namespaces/../services/x" },
    500,
    /"invalid key: .*"\/services\/specs\/\.\.\/x/,
  ],
  [
    "a watch in the namespace .",
    { path: "/apis/apps/v1/namespaces/./deployments?watch=1" },
    500,
    /"invalid key: .*"\/deployments\/\./,
  ],
  [
    "a change in the namespace %2e",
    { method: "PUT", path: "/api/v1/namespaces/%2e/configmaps/x", body: configMap("x") },
    500,
    /"invalid key: .*"\/configmaps\/\.\/x/,
  ],
  [
    "a creation in the namespace ..",
    { method: "POST", path: "/api/v1/namespaces/../configmaps", body: configMap("x") },
    500,
    /"Internal error occurred: invalid resource name .*"\.\..*": \[may not be '\.\.'\]"/,
  ],
];

const rows: Row[] = [
  ...nameRows,
  [
    "malformed JSON",
    { method: "POST", path: configMaps, body: "{" },
    400,
    /couldn't get version\/kind; json parse error: unexpected end of JSON input/,
  ],
  ["an empty body", { method: "POST", path: configMaps, body: "" }, 400, /unrecognized|empty/],
  ["an array as body", { method: "POST", path: configMaps, body: "[]" }, 400, /cannot unmarshal array/],
  ["a number as body", { method: "POST", path: configMaps, body: "1" }, 400, /cannot unmarshal number/],
  [
    "a body over 3 MiB",
    { method: "POST", path: configMaps, body: Buffer.alloc(3 * 1024 * 1024 + 1, 32) },
    413,
    /Request entity too large: limit is 3145728/,
  ],
  [
    "an unknown Content-Type",
    { method: "POST", path: configMaps, body: "x", headers: { "content-type": "text/plain" } },
    415,
    /unknown format - accepted media types include/,
  ],
  ["an unknown path", { path: "/nowhere" }, 404, /^404 page not found\n$/],
  [
    "an unknown path without credentials",
    { path: "/nowhere", anonymous: true },
    403,
    /forbidden: User \\"system:anonymous\\" cannot get path \\"\/nowhere\\"/,
  ],
  ["an unknown resource", { path: "/api/v1/nothings" }, 404, /the server could not find the requested resource/],
  [
    "an unknown version",
    { path: "/apis/apps/v9/deployments" },
    404,
    /the server could not find the requested resource/,
  ],
  ["an unknown version of the core", { path: "/api/v2" }, 404, /the server could not find the requested resource/],
  [
    "an invalid timeout",
    { path: `${configMaps}?timeout=5` },
    400,
    /"invalid timeout specified in the request URL - time: missing unit in duration \\"5\\""/,
  ],
  [
    "the parameter export",
    { path: `${configMaps}/x?export=true` },
    400,
    /the export parameter, deprecated since v1.14, is no longer supported/,
  ],
  [
    "an Event of events.k8s.io that does not exist",
    { path: "/apis/events.k8s.io/v1/namespaces/default/events/x" },
    404,
    /events\.events\.k8s\.io \\"x\\" not found/,
  ],
  ["an unknown group", { path: "/apis/nothing.example.com/v1/things" }, 404, /^404 page not found\n$/],
  [
    "a method that the resource does not support",
    { method: "PATCH", path: configMaps, body: {}, headers: merge },
    405,
    /does not allow this method/,
  ],
  ["an unknown method", { method: "PURGE", path: configMaps }, 405, /does not allow this method/],
  [
    "a name that is not a DNS subdomain",
    { method: "POST", path: configMaps, body: configMap("Upper_case") },
    422,
    /a lowercase RFC 1123 subdomain must consist/,
  ],
  [
    "a body of another kind",
    { method: "POST", path: configMaps, body: { ...configMap("a"), kind: "Secret" } },
    400,
    /Secret in version .* cannot be handled as a ConfigMap/,
  ],
  [
    "a body of another version",
    { method: "POST", path: configMaps, body: { ...configMap("a"), apiVersion: "apps/v1" } },
    400,
    /cannot be handled as a ConfigMap/,
  ],
  [
    "a body with another name",
    { method: "PUT", path: `${configMaps}/b`, body: configMap("a") },
    400,
    /the name of the object \(a\) does not match the name on the URL \(b\)/,
  ],
  [
    "a body with another namespace",
    { method: "POST", path: configMaps, body: { ...configMap("a"), metadata: { name: "a", namespace: "other" } } },
    400,
    /does not match the namespace/,
  ],
  [
    "a missing namespace",
    { method: "POST", path: configMaps.replace("default", "none"), body: configMap("a") },
    404,
    /namespaces \\"none\\" not found/,
  ],
  ["10,000 levels of nesting", { method: "POST", path: configMaps, body: nested(10_000) }, 400, /exceeded max depth/],
  [
    "100,000 levels of nesting in a merge patch",
    { method: "PATCH", path: `${configMaps}/victim`, body: nested(100_000), headers: merge },
    400,
    /./,
  ],
  [
    "a number instead of a string",
    { method: "POST", path: configMaps, body: configMap("a", { data: { a: 1 } }) },
    400,
    /cannot unmarshal number into Go struct field ConfigMap.data of type string/,
  ],
  ["a broken path escape", { path: `${configMaps}/%zz` }, 400, /./],
  [
    "an empty path segment",
    { path: "/api/v1/namespaces//configmaps" },
    404,
    /the server could not find the requested resource/,
  ],
  ["an empty group", { path: "/apis//v1/things" }, 404, /^404 page not found\n$/],
  ["a name of two dots", { path: `${configMaps}/..` }, 400, /Name parameter invalid: \\"..\\": may not be '..'/],
  ["a percent sign as name", { path: `${configMaps}/a%25` }, 400, /may not contain '%'/],
  [
    "namespaces below a namespace",
    { path: "/api/v1/namespaces/default/namespaces" },
    404,
    /could not find the requested resource/,
  ],
  ...[
    "/api/v1/namespaces/default/bindings/a",
    "/api/v1/bindings",
    "/apis/authorization.k8s.io/v1/localsubjectaccessreviews",
    "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews/a",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews/a",
  ].flatMap((path) =>
    ["GET", "PUT", "POST", "DELETE"].map(
      (method): Row => [
        `${method} of ${path}, where nothing is served`,
        { method, path, body: "{}", headers: { "content-type": "application/json" } },
        404,
        /the server could not find the requested resource/,
      ],
    ),
  ),
  ["a POST to /version", { method: "DELETE", path: "/version" }, 405, /does not allow this method/],
  [
    "impersonated groups without a user",
    { path: configMaps, headers: { "impersonate-group": "devs" } },
    400,
    /requested \\u0026user\.DefaultInfo\{Name:\\"\\", UID:\\"\\", Groups:\[\]string\{\\"devs\\"\}, Extra:map\[string\]\[\]string\(nil\)\} without impersonating a user name/,
  ],
  ["an unreadable resourceVersion", { path: `${configMaps}?resourceVersion=x` }, 400, /resourceVersion/],
];

const { server, client } = await startServerWithClient();

describe("bad input", () => {
  before(async () => {
    await client.send({ method: "POST", path: configMaps, body: configMap("victim", { data: { kept: "yes" } }) });
  });

  for (const [what, request, status, text] of rows) {
    test(`answers ${status} to ${what}`, async () => {
      const answer = await client.send(request);
      assert.match(answer.text, text);
      assert.equal(answer.status, status, answer.text);
    });
  }

  test("rejected requests store and change nothing", async () => {
    const { body } = await client.send({ path: configMaps });
    assert.deepEqual(
      body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ["victim"],
    );
    assert.deepEqual(body.items[0].data, { kept: "yes" });
  });

  test("reports at most 1000 causes for 100,000 invalid labels", async () => {
    const labels = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`-${index}`, "-"]));
    const { status, text, body } = await client.send({
      method: "POST",
      path: configMaps,
      body: { metadata: { name: "a", labels } },
    });
    assert.equal(status, 422);
    assert.equal(body.details.causes.length, 1000);
    assert.ok(text.length < 2 << 20, String(text.length));
  });

  test("accepts __proto__ and constructor as ordinary keys", async () => {
    const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keys","labels":{"constructor":"c"}},"data":{"__proto__":"p","constructor":"c","10":"ten","9":"nine"}}`;
    const created = await client.send({ method: "POST", path: configMaps, body });
    assert.equal(created.status, 201, created.text);
    assert.match(created.text, /"data":\{"10":"ten","9":"nine","__proto__":"p","constructor":"c"\}/);
    const patched = await client.send({
      method: "PATCH",
      path: `${configMaps}/keys`,
      headers: merge,
      body: `{"data":{"__proto__":"q"}}`,
    });
    assert.match(patched.text, /"__proto__":"q","constructor":"c"/);
    assert.equal(({} as Record<string, unknown>).p, undefined);
    const listed = await client.send({ path: `${configMaps}?labelSelector=toString` });
    assert.equal(listed.body.items.length, 0);
    await client.send({ method: "DELETE", path: `${configMaps}/keys` });
  });

  test("preserves int64 values beyond 2^53", async () => {
    const path = "/apis/batch/v1/namespaces/default/jobs";
    const body = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"big"},"spec":{"activeDeadlineSeconds":9007199254740993,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`;
    const created = await client.send({ method: "POST", path, body });
    assert.match(created.text, /"activeDeadlineSeconds":9007199254740993/);
    assert.match((await client.send({ path: `${path}/big` })).text, /"activeDeadlineSeconds":9007199254740993/);
  });

  test("rejects headers of two mebibytes", async () => {
    const outcome = await client.send({ path: "/version", headers: { "x-huge": "x".repeat(2 << 20) } }).then(
      ({ status }) => String(status),
      (error: NodeJS.ErrnoException) => error.code ?? "",
    );
    assert.match(outcome, /^(431|400|ECONNRESET|EPIPE)$/);
  });

  test("a client that stalls in the TLS handshake does not delay other clients", async () => {
    const stalled = net.connect(server.port, "127.0.0.1");
    stalled.on("error", () => {});
    stalled.write(Buffer.from([22, 3, 1]));
    assert.equal((await client.send({ path: "/livez" })).status, 200);
    stalled.destroy();
  });
});

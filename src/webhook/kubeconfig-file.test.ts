/** Kubeconfigs of webhooks. Error messages equal those of client-go's loader. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readWebhookKubeconfig } from "./kubeconfig-file.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-kubeconfig-"));
after(() => rmSync(directory, { recursive: true }));
writeFileSync(join(directory, "ca.pem"), "x");
writeFileSync(join(directory, "tok"), "tok\n");

const context = "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n";
const cluster = "clusters: [{name: c, cluster: {server: https://a}}]\n";
const user = "users: [{name: u, user: {token: t}}]\n";
const of = (fields: string, whose = user): string => `${context}clusters: [{name: c, cluster: {${fields}}}]\n${whose}`;
const as = (fields: string): string => `${context}${cluster}users: [{name: u, user: {${fields}}}]\n`;
const none =
  "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";
const loading = `error loading config file "${directory}/kc": `;
const noKind = (what: string): string =>
  `${loading}couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;

/** Expects an endpoint or an error message. */
const rows: [what: string, text: string, want: object | string][] = [
  ["empty", "", none],
  ["garbage", "garbage", noKind("string")],
  ["a list", "[]", noKind("array")],
  ["invalid YAML", "a: b: c", `${loading}yaml: mapping values are not allowed in this context`],
  ["an empty object", "{}", none],
  [
    "JSON",
    JSON.stringify({
      "current-context": "x",
      contexts: [{ name: "x", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server: "https://a" } }],
    }),
    { url: "https://a" },
  ],
  [
    "another version",
    "apiVersion: v2\nkind: Config\n",
    `${loading}no kind "Config" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"`,
  ],
  [
    "another kind",
    "apiVersion: v1\nkind: Pod\n",
    `${loading}no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`,
  ],
  ["no current context", cluster, none],
  [
    "no current context, with a single context",
    `contexts: [{name: x, context: {cluster: c, user: u}}]\n${cluster}${user}`,
    none,
  ],
  [
    "a context that is not a string",
    `current-context: true\n${cluster}`,
    `${loading}json: cannot unmarshal bool into Go struct field Config.current-context of type string`,
  ],
  [
    "a missing context",
    `current-context: z\n${cluster}`,
    "invalid configuration: [context was not found for specified context: z, cluster has no server defined]",
  ],
  ["a missing cluster", `${context}${user}`, none],
  [
    "a missing cluster and two methods",
    `${context}users: [{name: u, user: {token: t, username: a}}]\n`,
    "invalid configuration: [more than one authentication method found for u; found [token basicAuth], only one is allowed, cluster has no server defined]",
  ],
  ["a missing user", `${context}${cluster}`, { url: "https://a" }],
  [
    "a cluster that is not a string",
    "contexts: [{name: x, context: {cluster: 1}}]\n",
    `${loading}json: cannot unmarshal number into Go struct field Context.contexts.context.cluster of type string`,
  ],
  ["no server", of("tls-server-name: a"), 'invalid configuration: no server found for cluster "c"'],
  [
    "two authentication methods",
    as("token: t, username: a"),
    "invalid configuration: more than one authentication method found for u; found [token basicAuth], only one is allowed",
  ],
  [
    "a missing authority file",
    of("server: https://a, certificate-authority: nope.pem"),
    `invalid configuration: unable to read certificate-authority ${directory}/nope.pem for c due to open ${directory}/nope.pem: no such file or directory`,
  ],
  [
    "an authority as file and data",
    of("server: https://a, certificate-authority: ca.pem, certificate-authority-data: eA=="),
    "invalid configuration: certificate-authority-data and certificate-authority are both specified for c. certificate-authority-data will override.",
  ],
  [
    "a certificate as file and data",
    as("client-certificate: ca.pem, client-certificate-data: eA==, client-key: ca.pem, client-key-data: eA=="),
    "invalid configuration: [client-cert-data and client-cert are both specified for u. client-cert-data will override., client-key-data and client-key are both specified for u; client-key-data will override]",
  ],
  [
    "a certificate without a key",
    as("client-certificate: ca.pem"),
    "invalid configuration: client-key-data or client-key must be specified for u to use the clientCert authentication method.",
  ],
  [
    "missing certificate files",
    as("client-certificate: nope, client-key: nokey"),
    `invalid configuration: [unable to read client-cert ${directory}/nope for u due to open ${directory}/nope: no such file or directory, unable to read client-key ${directory}/nokey for u due to open ${directory}/nokey: no such file or directory]`,
  ],
  ["a missing token file", as("tokenFile: nope"), `open ${directory}/nope: no such file or directory`],
  ["a token file", as("tokenFile: tok"), { url: "https://a", token: "tok", tokenFile: `${directory}/tok` }],
  ["a token and a token file", as("token: t, tokenFile: tok"), { url: "https://a", token: "t" }],
  ["a password", as("username: a, password: b"), { url: "https://a", basic: { username: "a", password: "b" } }],
  [
    "certificates as data",
    as("client-certificate-data: eA==, client-key-data: eQ=="),
    { url: "https://a", cert: "x", key: "y" },
  ],
  [
    "certificates as files",
    as("client-certificate: ca.pem, client-key: ca.pem"),
    { url: "https://a", cert: "x", key: "x" },
  ],
  [
    "an authority",
    of("server: https://a, certificate-authority: ca.pem, tls-server-name: b"),
    { url: "https://a", ca: "x", serverName: "b", token: "t" },
  ],
  ["no TLS, which omits the token", of("server: http://a"), { url: "http://a" }],
  ["a server without a scheme", of("server: 'a:80'"), { url: "http://a" }],
  ["a path", of("server: 'https://a/b/c#f'"), { url: "https://a/b/c", token: "t" }],
  [
    "insecure-skip-tls-verify",
    of("server: https://a, insecure-skip-tls-verify: true"),
    { url: "https://a", insecureSkipTlsVerify: true, token: "t" },
  ],
  [
    "insecure-skip-tls-verify with an authority",
    of("server: https://a, insecure-skip-tls-verify: true, certificate-authority-data: eA=="),
    "specifying a root certificates file with the insecure flag is not allowed",
  ],
  [
    "a proxy",
    of("server: https://a, proxy-url: 'http://p'"),
    `invalid configuration: invalid 'proxy-url' "http://p" for cluster "c": proxies are not supported`,
  ],
  [
    "a proxy with a password",
    of("server: https://a, proxy-url: 'http://u:secret@p'"),
    `invalid configuration: invalid 'proxy-url' "http://xxxxx@p" for cluster "c": proxies are not supported`,
  ],
  [
    "an invalid address with a password",
    of("server: 'https://u:secret@[::1'"),
    'host must be a URL or a host:port pair: "https://xxxxx@[::1"',
  ],
  [
    "an exec plugin",
    as("exec: {command: a, apiVersion: client.authentication.k8s.io/v1beta1}"),
    "invalid configuration: exec plugins are not supported, but u has one",
  ],
  [
    "groups without a user",
    as("as-groups: [a]"),
    "invalid configuration: requesting uid, groups or user-extra for u without impersonating a user",
  ],
  ["unknown fields", `wrong: x\n${context}${cluster}${user}`, { url: "https://a", token: "t" }],
  [
    "invalid base64",
    "clusters: [{name: c, cluster: {server: 'https://a', certificate-authority-data: '%'}}]\n",
    `${loading}illegal base64 data at input byte 0`,
  ],
];

const quiet = { purpose: "authorization", logger: { warn() {} } };

for (const [what, text, want] of rows) {
  test(`a kubeconfig: ${what}`, async () => {
    const file = join(directory, "kc");
    writeFileSync(file, text);
    if (typeof want === "string") await assert.rejects(readWebhookKubeconfig(file, quiet), { message: want });
    else assert.deepEqual(await readWebhookKubeconfig(file, quiet), want);
  });
}

test("a missing kubeconfig", async () => {
  await assert.rejects(readWebhookKubeconfig(`${directory}/none`, quiet), {
    message: `stat ${directory}/none: no such file or directory`,
  });
});

const plain =
  "Webhook server is not https: traffic is neither encrypted nor authenticated, and no credentials are sent";
const dropped = "Dropped query parameters of the webhook server";
const rejected = 'invalid configuration: the server of cluster "c" must not have query parameters';
/**
 * The warnings, each with the server in its fields; and whether `rejectParameters` causes an error.
 */
const serverRows: [server: string, warnings: (readonly [message: string, server: string])[], parameters?: true][] = [
  ["https://a/b", []],
  ["https://a/b?", []],
  ["https://a/b#c", []],
  ["http://a/b", [[plain, "http://a/b"]]],
  ["HTTP://a", [[plain, "http://a"]]],
  ["a:80", [[plain, "http://a"]]],
  ["http://u:secret@a", [[plain, "http://a"]]],
  ["https://a/b?key=secret", [[dropped, "https://a/b"]], true],
  ["https://a?key=secret#c", [[dropped, "https://a"]], true],
  [
    "http://u:secret@a/b?key",
    [
      [dropped, "http://a/b"],
      [plain, "http://a/b"],
    ],
    true,
  ],
];
for (const [server, warnings, parameters] of serverRows) {
  test(`the server ${server}`, async () => {
    const file = join(directory, "kc");
    writeFileSync(file, of(`server: '${server}'`));
    const warned: unknown[] = [];
    const logger = { warn: (message: string, values?: object): void => void warned.push([message, values]) };
    await readWebhookKubeconfig(file, { purpose: "audit", logger });
    assert.deepEqual(
      warned,
      warnings.map(([message, name]) => [message, { purpose: "audit", server: name }]),
    );
    const strict = readWebhookKubeconfig(file, { ...quiet, rejectParameters: true });
    if (parameters) await assert.rejects(strict, { message: rejected });
    else await strict;
  });
}

/**
 * An authenticating proxy in front of a real server: the user in its headers, changes of its CA
 * file, and the published ConfigMap.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Caller, openAuthConnection, type Protocol, reviewSelf } from "../support/auth-client.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { clientAuth, oddCertificate } from "../support/odd-certificates.ts";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const protocols: readonly Protocol[] = ["HTTP/1.1", "HTTP/2.0"];
const configMap = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const directory = mkdtempSync(join(tmpdir(), "coxswain-proxy-"));
const file = (name: string, content: string): string => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};
const authority = await oddCertificate({ subject: [{ CN: ["proxies"] }], authority: {} });
const newAuthority = await oddCertificate({ subject: [{ CN: ["new proxies"] }], authority: {} });
const certificate = { subject: [{ CN: ["front-proxy"] }], usages: [clientAuth] };
const proxy = await oddCertificate(certificate, authority);
const newProxy = await oddCertificate(certificate, newAuthority);

const none = { allowedNames: [], usernameHeaders: [], uidHeaders: [], groupHeaders: [], extraHeaderPrefixes: [] };

const { server, client: admin } = await startServerWithClient({
  requestHeader: {
    clientCaFile: file("proxies.crt", authority.cert),
    allowedNames: ["front-proxy", "other"],
    usernameHeaders: ["X-Remote-User", "X-Name"],
    uidHeaders: ["X-Remote-Uid"],
    groupHeaders: ["X-Remote-Group"],
    extraHeaderPrefixes: ["X-Remote-Extra-", "X-More-"],
  },
});
const ca = field(server.kubeconfig, "certificate-authority-data");
after(() => rmSync(directory, { recursive: true, force: true }));

const lines: Caller["headers"] = [
  ["X-Name", "unused"],
  ["x-REMOTE-user", Buffer.from("änn").toString("latin1")],
  ["X-Remote-Group", "b"],
  ["X-Remote-Group", "a"],
  ["X-Remote-Uid", "7"],
  ["X-Remote-Extra-Example.COM%2fProject", "one"],
  ["X-More-example.com%2Fproject", "two"],
];
for (const protocol of protocols) {
  test(`authenticates the user in the headers of the proxy, over ${protocol}`, async () => {
    const { cert, key } = proxy;
    const answer = await reviewSelf(server.url, ca, { cert, key, headers: lines }, protocol);
    assert.deepEqual(answer.user, {
      username: "änn",
      uid: "7",
      groups: ["b", "a", "system:authenticated"],
      extra: { "example.com/project": ["one", "two"] },
    });
  });

  test(`authenticates each request of a connection by its own headers, over ${protocol}`, async () => {
    const connection = openAuthConnection(server.url, ca, proxy, protocol);
    assert.equal((await connection.ask([["X-Remote-User", "ann"]])).user.username, "ann");
    assert.equal((await connection.ask([["X-Name", "ben"]])).user.username, "ben");
    assert.equal((await connection.ask([])).status, 401);
    connection.close();
  });
}

test("a user in the headers can impersonate another user with permission", async () => {
  const { cert, key } = proxy;
  const headers: Caller["headers"] = [
    ["X-Remote-User", "root"],
    ["X-Remote-Group", "system:masters"],
    ["Impersonate-User", "ann"],
  ];
  for (const protocol of protocols) {
    const answer = await reviewSelf(server.url, ca, { cert, key, headers }, protocol);
    assert.deepEqual(answer.user, { username: "ann", groups: ["system:authenticated"] });
  }
});

test("publishes the options in a ConfigMap for extension API servers, and reloads and publishes a new CA", async () => {
  await until(async () => (await admin.send({ path: configMap })).status === 200);
  const { body } = await admin.send({ path: configMap });
  const { "client-ca-file": clients, ...rest } = body.data;
  assert.ok(clients.includes(ca));
  assert.deepEqual(rest, {
    "requestheader-allowed-names": '["front-proxy","other"]',
    "requestheader-client-ca-file": authority.cert,
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-","X-More-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User","X-Name"]',
  });
  const headers: Caller["headers"] = [["X-Remote-User", "ann"]];
  const statusOf = async ({ cert, key }: Caller): Promise<number> =>
    (await reviewSelf(server.url, ca, { cert, key, headers } as Caller, "HTTP/2.0")).status;
  assert.deepEqual([await statusOf(proxy), await statusOf(newProxy)], [201, 401]);
  file("proxies.crt", newAuthority.cert);
  await until(async () => (await statusOf(newProxy)) === 201);
  assert.equal(await statusOf(proxy), 401);
  // The earlier CA stays in the ConfigMap, because other servers may still need it.
  await until(
    async () =>
      (await admin.send({ path: configMap })).body.data["requestheader-client-ca-file"] ===
      `${authority.cert}${newAuthority.cert}`,
  );
});

test("rejects a changed CA file that overlaps with the client CA, until the overlap ends", async () => {
  const errors: string[] = [];
  const other = await startTestServer({
    logger: {
      info() {},
      warn() {},
      error: (message, values) => void errors.push(`${message} ${JSON.stringify(values)}`),
    },
    clientCaFile: file("clients.crt", newAuthority.cert),
    requestHeader: {
      ...none,
      clientCaFile: file("other-proxies.crt", authority.cert),
      usernameHeaders: ["X-Remote-User"],
    },
  });
  const otherCa = field(other.kubeconfig, "certificate-authority-data");
  const { cert, key } = newProxy;
  const caller: Caller = { cert, key, headers: [["X-Remote-User", "root"]] };
  file("other-proxies.crt", `${authority.cert}${newAuthority.cert}`);
  await until(async () => errors.length > 0);
  assert.match(
    errors[0] as string,
    /contain overlapping certificates; --requestheader-allowed-names must be specified/,
  );
  assert.equal((await reviewSelf(other.url, otherCa, caller, "HTTP/2.0")).user.username, "front-proxy");
  errors.length = 0;
  file("clients.crt", authority.cert);
  await until(async () => errors.length > 0);
  assert.equal((await reviewSelf(other.url, otherCa, caller, "HTTP/2.0")).user.username, "front-proxy");
  // The server checks the rejected file again when the client CA changes.
  const otherClients = await oddCertificate({ subject: [{ CN: ["other clients"] }], authority: {} });
  file("clients.crt", otherClients.cert);
  await until(async () => (await reviewSelf(other.url, otherCa, caller, "HTTP/2.0")).user?.username === "root");
  await other.close();
});

test("only users with the role can read the ConfigMap", async () => {
  const ann = rawClient((await server.as("ann")).kubeconfig);
  const scheduler = rawClient((await server.as("system:kube-scheduler")).kubeconfig);
  assert.deepEqual(
    [(await ann.send({ path: configMap })).status, (await scheduler.send({ path: configMap })).status],
    [403, 200],
  );
  ann.close();
  scheduler.close();
});

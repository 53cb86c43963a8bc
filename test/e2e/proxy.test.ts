/** A proxy that authenticates, in front of a real server: whom its headers name, where they end, and what other servers are told. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { field } from "../support/kubeconfig-fields.ts";
import { clientAuth, oddCertificate } from "../support/odd-certificates.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { type Caller, type Protocol, whoConnection, whoIs } from "../support/who-client.ts";

const protocols: readonly Protocol[] = ["HTTP/1.1", "HTTP/2.0"];
const configMap = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const directory = mkdtempSync(join(tmpdir(), "coxswain-proxy-"));
const file = (name: string, content: string): string => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};
const authority = await oddCertificate({ subject: [{ CN: ["proxies"] }], authority: {} });
const fresh = await oddCertificate({ subject: [{ CN: ["fresh proxies"] }], authority: {} });
const certificate = { subject: [{ CN: ["front-proxy"] }], usages: [clientAuth] };
const proxy = await oddCertificate(certificate, authority);
const freshProxy = await oddCertificate(certificate, fresh);

const none = { allowedNames: [], usernameHeaders: [], uidHeaders: [], groupHeaders: [], extraHeaderPrefixes: [] };

let server: TestServer;
let admin: RawClient;
let ca = "";
before(async () => {
  server = await startTestServer({
    requestHeader: {
      clientCaFile: file("proxies.crt", authority.cert),
      allowedNames: ["front-proxy", "other"],
      usernameHeaders: ["X-Remote-User", "X-Name"],
      uidHeaders: ["X-Remote-Uid"],
      groupHeaders: ["X-Remote-Group"],
      extraHeaderPrefixes: ["X-Remote-Extra-", "X-More-"],
    },
  });
  admin = rawClient(server.kubeconfig);
  ca = field(server.kubeconfig, "certificate-authority-data");
});
after(async () => {
  admin.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const lines: Caller["headers"] = [
  ["X-Name", "nobody"],
  ["x-REMOTE-user", Buffer.from("änn").toString("latin1")],
  ["X-Remote-Group", "b"],
  ["X-Remote-Group", "a"],
  ["X-Remote-Uid", "7"],
  ["X-Remote-Extra-Example.COM%2fProject", "one"],
  ["X-More-example.com%2Fproject", "two"],
];
for (const protocol of protocols) {
  test(`the proxy's headers name the caller, over ${protocol}`, async () => {
    const { cert, key } = proxy;
    const answer = await whoIs(server.url, ca, { cert, key, headers: lines }, protocol);
    assert.deepEqual(answer.user, {
      username: "änn",
      uid: "7",
      groups: ["b", "a", "system:authenticated"],
      extra: { "example.com/project": ["one", "two"] },
    });
  });

  test(`each request of a connection is its own, over ${protocol}`, async () => {
    const connection = whoConnection(server.url, ca, proxy, protocol);
    assert.equal((await connection.ask([["X-Remote-User", "ann"]])).user.username, "ann");
    assert.equal((await connection.ask([["X-Name", "ben"]])).user.username, "ben");
    assert.equal((await connection.ask([])).status, 401);
    connection.close();
  });
}

test("who is named may become another, if he may", async () => {
  const { cert, key } = proxy;
  const headers: Caller["headers"] = [
    ["X-Remote-User", "root"],
    ["X-Remote-Group", "system:masters"],
    ["Impersonate-User", "ann"],
  ];
  for (const protocol of protocols) {
    const answer = await whoIs(server.url, ca, { cert, key, headers }, protocol);
    assert.deepEqual(answer.user, { username: "ann", groups: ["system:authenticated"] });
  }
});

/** Asks again and again until the file was read. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail("does not come to be as it should");
}

test("other servers are told whom to believe, and of new authorities, whose proxies are believed here, too", async () => {
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
    (await whoIs(server.url, ca, { cert, key, headers } as Caller, "HTTP/2.0")).status;
  assert.deepEqual([await statusOf(proxy), await statusOf(freshProxy)], [201, 401]);
  file("proxies.crt", fresh.cert);
  await until(async () => (await statusOf(freshProxy)) === 201);
  assert.equal(await statusOf(proxy), 401);
  // What was written once stays, for others may need it still.
  await until(
    async () =>
      (await admin.send({ path: configMap })).body.data["requestheader-client-ca-file"] ===
      `${authority.cert}${fresh.cert}`,
  );
});

test("a changed file does not make proxies of clients", async () => {
  const errors: string[] = [];
  const apart = await startTestServer({
    logger: {
      info() {},
      warn() {},
      error: (message, values) => void errors.push(`${message} ${JSON.stringify(values)}`),
    },
    clientCaFile: file("clients.crt", fresh.cert),
    requestHeader: { ...none, clientCaFile: file("apart.crt", authority.cert), usernameHeaders: ["X-Remote-User"] },
  });
  const known = field(apart.kubeconfig, "certificate-authority-data");
  const { cert, key } = freshProxy;
  const caller: Caller = { cert, key, headers: [["X-Remote-User", "root"]] };
  file("apart.crt", `${authority.cert}${fresh.cert}`);
  await until(async () => errors.length > 0);
  assert.match(
    errors[0] as string,
    /contain overlapping certificates; --requestheader-allowed-names must be specified/,
  );
  assert.equal((await whoIs(apart.url, known, caller, "HTTP/2.0")).user.username, "front-proxy");
  errors.length = 0;
  file("clients.crt", authority.cert);
  await until(async () => errors.length > 0);
  assert.equal((await whoIs(apart.url, known, caller, "HTTP/2.0")).user.username, "front-proxy");
  // What could not be used is looked at again when it may fit.
  const other = await oddCertificate({ subject: [{ CN: ["other clients"] }], authority: {} });
  file("clients.crt", other.cert);
  await until(async () => (await whoIs(apart.url, known, caller, "HTTP/2.0")).user?.username === "root");
  await apart.close();
});

test("the ConfigMap is for those with the role", async () => {
  const ann = rawClient((await server.as("ann")).kubeconfig);
  const scheduler = rawClient((await server.as("system:kube-scheduler")).kubeconfig);
  assert.deepEqual(
    [(await ann.send({ path: configMap })).status, (await scheduler.send({ path: configMap })).status],
    [403, 200],
  );
  ann.close();
  scheduler.close();
});

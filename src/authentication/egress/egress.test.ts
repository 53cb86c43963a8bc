/**
 * Egress selector configurations, compared with upstream's errors as recorded by
 * tools/golden/authentication, and proxies.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startTokenIssuer, type TokenIssuer } from "../../../test/support/token-issuer.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../../server/serving/x509.ts";
import { documentClient } from "../oidc/document-client.ts";
import { readEgressSelections } from "./configuration.ts";
import { httpConnect } from "./http-connect.ts";
import { openEgressSelector } from "./selector.ts";

const rows = readFileSync(join(import.meta.dirname, "../configuration/testdata/golden.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as { what: string; egress?: string; error?: string })
  .filter(({ egress }) => egress !== undefined);

/**
 * Removes the location where upstream registers its kinds, which differs in the recording program.
 */
const withoutLocation = (text: string | undefined): string | undefined => text?.replace(/in scheme ".*"$/, "in scheme");

for (const { what, egress = "", error } of rows) {
  test(what, () => {
    let found: string | undefined;
    try {
      readEgressSelections(Buffer.from(egress));
    } catch (thrown) {
      found = (thrown as Error).message;
    }
    assert.equal(withoutLocation(found), withoutLocation(error));
  });
}

const directory = mkdtempSync(join(tmpdir(), "coxswain-egress-"));
let issuer: TokenIssuer;
let authority: KeyPair;
const servers: net.Server[] = [];

before(async () => {
  issuer = await startTokenIssuer();
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
  authority = await createAuthority({ subject: { commonName: "proxies" }, ...validity });
  for (const usage of ["server", "client"] as const) {
    const pair = await issueCertificate(authority, {
      subject: { commonName: usage },
      usage,
      names: ["proxy.example"],
      ...validity,
    });
    writeFileSync(join(directory, `${usage}.crt`), pair.cert);
    writeFileSync(join(directory, `${usage}.key`), pair.key);
  }
  writeFileSync(join(directory, "ca.crt"), authority.cert);
});

after(async () => {
  for (const server of servers) server.close();
  await issuer.close();
  rmSync(directory, { recursive: true });
});

/** Makes the server a proxy. @returns the requested targets */
function proxy(server: http.Server, status = 200, early = ""): string[] {
  const targets: string[] = [];
  servers.push(server);
  server.on("connect", (request, socket) => {
    targets.push(request.url ?? "");
    const [host = "", port = ""] = (request.url ?? "").split(":");
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward = net.connect(Number(port), host, () => {
      socket.write(`HTTP/1.1 200 OK\r\n\r\n${early}`);
      onward.pipe(socket).pipe(onward);
    });
    for (const one of [socket, onward])
      for (const end of ["error", "close"]) one.on(end, () => [socket, onward].map((each) => each.destroy()));
    return undefined;
  });
  return targets;
}

async function listen(server: net.Server, at: string | number): Promise<number> {
  await new Promise<void>((resolve) =>
    typeof at === "string" ? server.listen(at, resolve) : server.listen(at, "127.0.0.1", resolve),
  );
  return typeof at === "string" ? 0 : (server.address() as AddressInfo).port;
}

async function fetchThrough(connection: object): Promise<number> {
  const file = join(directory, "egress.json");
  const config = {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [{ name: "cluster", connection }],
  };
  writeFileSync(file, JSON.stringify(config));
  const client = documentClient({ certificateAuthority: issuer.ca, dial: (await openEgressSelector(file))("cluster") });
  try {
    return (await client.get(`${issuer.url}/keys`)).status;
  } finally {
    client.close();
  }
}

test("connects directly", async () => assert.equal(await fetchThrough({ proxyProtocol: "Direct" }), 200));

test("connects through a proxy", async () => {
  const server = http.createServer();
  const targets = proxy(server);
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  assert.equal(await fetchThrough({ proxyProtocol: "HTTPConnect", transport: { tcp: { url } } }), 200);
  assert.deepEqual(targets, [new URL(issuer.url).host]);
});

test("connects through a proxy with TLS and client certificates", async () => {
  const read = (name: string): Buffer => readFileSync(join(directory, name));
  const server = https.createServer({
    cert: read("server.crt"),
    key: read("server.key"),
    ca: read("ca.crt"),
    requestCert: true,
  });
  const targets = proxy(server);
  const url = `https://127.0.0.1:${await listen(server, 0)}`;
  const file = (name: string): string => join(directory, name);
  const tlsConfig = {
    caBundle: file("ca.crt"),
    clientCert: file("client.crt"),
    clientKey: file("client.key"),
    tlsServerName: "proxy.example",
  };
  assert.equal(await fetchThrough({ proxyProtocol: "HTTPConnect", transport: { tcp: { url, tlsConfig } } }), 200);
  assert.equal(targets.length, 1);
  const wrongName = fetchThrough({
    proxyProtocol: "HTTPConnect",
    transport: { tcp: { url, tlsConfig: { ...tlsConfig, tlsServerName: "other" } } },
  });
  await assert.rejects(wrongName, /via proxy .* failed: .*altname/i);
});

test("connects through a proxy at a Unix domain socket", async () => {
  const server = http.createServer();
  const targets = proxy(server);
  const udsName = join(directory, "proxy.sock");
  await listen(server, udsName);
  assert.equal(await fetchThrough({ proxyProtocol: "HTTPConnect", transport: { uds: { udsName } } }), 200);
  assert.equal(targets.length, 1);
});

test("reports a proxy that rejects, sends early data or is unavailable", async () => {
  const tunnel = (url: string): Promise<number> =>
    fetchThrough({ proxyProtocol: "HTTPConnect", transport: { tcp: { url } } });
  const rejecting = http.createServer();
  proxy(rejecting, 403);
  await assert.rejects(
    tunnel(`http://127.0.0.1:${await listen(rejecting, 0)}`),
    /proxy error from .* while dialing .*, code 403: 403 No$/,
  );
  const talking = http.createServer();
  proxy(talking, 200, "x");
  await assert.rejects(tunnel(`http://127.0.0.1:${await listen(talking, 0)}`), /unexpected 1 bytes of buffered data/);
  await assert.rejects(tunnel("http://127.0.0.1:1"), /via proxy 127.0.0.1:1 failed: connect ECONNREFUSED/);
});

test("a proxy that never ends its answer has 30 s", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const dripping = net.createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nX: ");
      t.mock.timers.tick(30_000);
    });
  });
  t.after(() => void dripping.close());
  const url = new URL(`http://127.0.0.1:${await listen(dripping, 0)}`);
  await assert.rejects(httpConnect({ url })("issuer", 443), /via proxy .* failed: i\/o timeout$/);
});

test("closes the tunnel to a host that does not answer the TLS handshake", async (t) => {
  const silent = http.createServer();
  t.after(() => void silent.close());
  const tunnels: Promise<unknown>[] = [];
  silent.on("connect", (_, socket) => {
    t.after(() => void socket.destroy());
    tunnels.push(once(socket.resume(), "end"));
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
  });
  const dial = httpConnect({ url: new URL(`http://127.0.0.1:${await listen(silent, 0)}`) });
  const client = documentClient({ certificateAuthority: issuer.ca, dial, timeoutMs: 100 });
  await assert.rejects(client.get("https://issuer/keys"), /context deadline exceeded/);
  await Promise.all(tunnels);
  client.close();
});

test("reports egress types that are not configured or not supported", async () => {
  const none = await openEgressSelector(undefined);
  assert.throws(() => none("cluster"), { message: 'oidc: egress lookup required with egress selector type "cluster"' });
  const write = (egressSelections: object[]): string => {
    const file = join(directory, "other.json");
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: "apiserver.k8s.io/v1beta1", kind: "EgressSelectorConfiguration", egressSelections }),
    );
    return file;
  };
  const other = await openEgressSelector(write([{ name: "etcd", connection: { proxyProtocol: "Direct" } }]));
  assert.throws(() => other("cluster"), { message: 'oidc: egress lookup for "cluster" is not configured' });
  const grpc = write([
    { name: "cluster", connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: "/x" } } } },
  ]);
  await assert.rejects(openEgressSelector(grpc), {
    message: 'failed to setup egress selector: egressSelection "cluster": the protocol GRPC is not supported',
  });
  await assert.rejects(openEgressSelector("/nope"), {
    message:
      'failed to read egress selector config: unable to read egress selector configuration from "/nope" [open /nope: no such file or directory]',
  });
});

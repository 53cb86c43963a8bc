/** Several servers over one store that forward requests to each other, and a peer that a test controls. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { ServerOptions } from "../../src/index.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../../src/server/serving/x509.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { startTestServer, type TestServer } from "./start-test-server.ts";

const hour = 3_600_000;
const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + 24 * hour };
/** Names that all servers have. */
const servingNames = ["127.0.0.1", "localhost", "kubernetes.default.svc"];

/** The certificates of a cluster, in files. */
export interface PeerFiles {
  readonly directory: string;
  readonly authority: KeyPair;
  /** The options with which servers trust each other. */
  readonly options: Partial<ServerOptions>;
  /** A certificate for a server. */
  issue(names?: readonly string[], authority?: KeyPair): Promise<KeyPair>;
  remove(): void;
}

/** Creates authorities for serving certificates and for proxies, and the certificate of the proxies. */
export async function createPeerFiles(): Promise<PeerFiles> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-peers-"));
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const authority = await createAuthority({ subject: { commonName: "cluster" }, ...validity });
  const proxies = await createAuthority({ subject: { commonName: "proxies" }, ...validity });
  const subject = { commonName: "front-proxy-client" };
  const client = await issueCertificate(proxies, { subject, usage: "client", names: [], ...validity });
  const issue: PeerFiles["issue"] = async (names = servingNames, by = authority) => {
    const leaf = { subject: { commonName: "server" }, usage: "server", names, ...validity } as const;
    const { cert, key } = await issueCertificate(by, leaf);
    return { cert: `${cert}${by.cert}`, key };
  };
  const serving = await issue();
  return {
    directory,
    authority,
    issue,
    options: {
      tlsCertFile: write("server.crt", serving.cert),
      tlsPrivateKeyFile: write("server.key", serving.key),
      peerCaFile: write("ca.crt", authority.cert),
      proxyClientCertFile: write("proxy.crt", client.cert),
      proxyClientKeyFile: write("proxy.key", client.key),
      requestHeader: {
        clientCaFile: write("proxies.crt", proxies.cert),
        allowedNames: ["front-proxy-client"],
        usernameHeaders: ["X-Custom-User", "X-Remote-User"],
        uidHeaders: ["X-Remote-Uid"],
        groupHeaders: ["X-Remote-Group"],
        extraHeaderPrefixes: ["X-Remote-Extra-"],
      },
      advertiseAddress: "127.0.0.1",
      endpointReconciler: "none", // Endpoints cannot have loopback addresses.
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** @param name of the host, which no two servers share */
export function startPeer(
  files: PeerFiles,
  shared: Storage,
  name: string,
  more: Partial<ServerOptions> = {},
): Promise<TestServer> {
  return startTestServer({ ...files.options, hostname: name, ...more }, shared);
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A peer with a scripted resource. */
export interface ScriptedPeer {
  readonly port: number;
  /** Answers requests that are not for discovery. */
  handler: Handler;
  /** Answers requests for an upgrade. */
  upgrade: (request: IncomingMessage, connection: Duplex) => void;
  /** Requests for discovery so far. */
  readonly discoveries: readonly IncomingMessage[];
  /** Replaces its certificate. */
  use(pair: KeyPair): void;
  close(): void;
}

/** Serves the resource `group/v1/things`. */
export async function startScriptedPeer(pair: KeyPair, group: string): Promise<ScriptedPeer> {
  const discoveries: IncomingMessage[] = [];
  const things = { resource: "things", scope: "Namespaced", singularResource: "thing", verbs: ["list"] };
  const responseKind = { group, version: "v1", kind: "Thing" };
  const versions = [{ version: "v1", resources: [{ ...things, responseKind }], freshness: "Current" }];
  const items = [{ metadata: { name: group }, versions }];
  const list = { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
  const server = https.createServer(pair, (request, response) => {
    if (request.url !== "/apis" && request.url !== "/api") return peer.handler(request, response);
    discoveries.push(request);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...list, items: request.url === "/apis" ? items : [] }));
  });
  const connections = new Set<Duplex>();
  server.on("upgrade", (request, connection) => {
    connections.add(connection);
    peer.upgrade(request, connection);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const peer: ScriptedPeer = {
    port: (server.address() as AddressInfo).port,
    handler: (_, response) => void response.end(),
    upgrade: (_, connection) => void connection.destroy(),
    discoveries,
    use: (next) => server.setSecureContext(next),
    close() {
      server.close();
      server.closeAllConnections();
      for (const connection of connections) connection.destroy();
    },
  };
  return peer;
}

/** Stores the address of a server, as another server over the same store does. */
export async function storePeerAddress(storage: Storage, identity: string, port: number): Promise<void> {
  const metadata = { labels: { apiserverIdentity: identity }, generation: 1 };
  const subsets = [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ name: "https", port, protocol: "TCP" }] }];
  const record = { kind: "Endpoints", apiVersion: "v1", metadata, subsets };
  const key = `/registry/peerserverleases/${identity}`;
  await storage.commit([], [{ key, value: Buffer.from(JSON.stringify(record)) }]);
}

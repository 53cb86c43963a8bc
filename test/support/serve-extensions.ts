/** Runs the servers of extension-servers.ts, and registers them at an API server. */
import https from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import { type ExtensionServer, extensionServers, extensionServices, mixedDefinition } from "./extension-servers.ts";

const hour = 3_600_000;

/** @returns an address that an EndpointSlice can have; undefined if this machine has none */
export function routableAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}

export interface ServedExtensions {
  /** The port of each server. */
  readonly ports: Readonly<Record<string, number>>;
  close(): void;
}

/** Starts the servers. */
export async function serveExtensions(host: string): Promise<ServedExtensions> {
  const [notBefore, notAfter] = [Date.now() - hour, Date.now() + hour];
  const authority = await createAuthority({ subject: { commonName: "extensions" }, notBefore, notAfter });
  const names = [host];
  const pair = await issueCertificate(authority, {
    subject: { commonName: "extension" },
    usage: "server",
    names,
    notBefore,
    notAfter,
  });
  const servers = Object.entries(extensionServers).map(
    ([name, answers]) => [name, https.createServer(pair, handlerOf(answers))] as const,
  );
  for (const [, server] of servers) await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    ports: Object.fromEntries(servers.map(([name, server]) => [name, (server.address() as AddressInfo).port])),
    close() {
      for (const [, server] of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

function handlerOf(answers: ExtensionServer): import("node:http").RequestListener {
  return ({ url = "", headers }, response) => {
    const answer = answers(url, headers);
    if (answer === "hang") return;
    const { status, type, etag, body } = answer;
    response.writeHead(status, {
      ...(type !== undefined && { "content-type": type }),
      ...(etag !== undefined && { etag }),
    });
    response.end(body);
  };
}

/** The objects that register servers at an address that EndpointSlices can have. */
export function extensionObjects(host: string, ports: Readonly<Record<string, number>>): [path: string, object][] {
  const services = Object.entries(ports).flatMap(([name, port]): [string, object][] => [
    [
      "/api/v1/namespaces/default/services",
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { ...place, name },
        spec: { ports: [{ port: 443, targetPort: port }] },
      },
    ],
    [
      "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
      {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { ...place, name, labels: { "kubernetes.io/service-name": name } },
        addressType: "IPv4",
        endpoints: [{ addresses: [host], conditions: { ready: true } }],
        ports: [{ port, protocol: "TCP" }],
      },
    ],
  ]);
  return [...services, ...apiServiceObjects(() => 443), [definitions, mixedDefinition]];
}

/** The objects that register servers on this machine: the name of each Service is `localhost`. */
export function localExtensionObjects(ports: Readonly<Record<string, number>>): [path: string, object][] {
  const services = Object.keys(ports).map((name): [string, object] => [
    "/api/v1/namespaces/default/services",
    { metadata: { ...place, name }, spec: { type: "ExternalName", externalName: "localhost" } },
  ]);
  return [...services, ...apiServiceObjects((server) => ports[server] ?? 443), [definitions, mixedDefinition]];
}

const place = { namespace: "default" };
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

function apiServiceObjects(portOf: (server: string) => number): [path: string, object][] {
  return extensionServices.map(({ name, server, ...priorities }) => {
    const [, version, group] = /^([^.]*)\.(.*)$/.exec(name) ?? [];
    const service = { ...place, name: server, port: portOf(server) };
    return [
      "/apis/apiregistration.k8s.io/v1/apiservices",
      { metadata: { name }, spec: { group, version, ...priorities, insecureSkipTLSVerify: true, service } },
    ];
  });
}

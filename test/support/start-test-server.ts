/** Starts a server for a test file, by default in memory, and on a free port. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/apimachinery/clock.ts";
import { silentLogger } from "../../src/apimachinery/logger.ts";
import { defaultOptions, type RunningServer, type ServerOptions, startServer } from "../../src/index.ts";
import { openServer } from "../../src/server/server.ts";
import { formatKubeconfig } from "../../src/server/serving/kubeconfig.ts";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { openMemoryStorage } from "../../src/storage/memory.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";
import * as kit from "../../src/testing/index.ts";
import { field } from "./kubeconfig-fields.ts";
import { defaultEngine, openTestEngine, type TestEngine } from "./test-engine.ts";

export interface TestServer extends RunningServer {
  /** A kubeconfig for any user, as text and as a file. */
  as(name: string, groups?: readonly string[]): Promise<{ kubeconfig: string; kubeconfigPath: string }>;
  /** A file with the kubeconfig of a system:masters user. */
  readonly kubeconfigPath: string;
  /** A directory for files of the test, removed at the end. */
  readonly directory: string;
}

const noAccounts = "-serviceaccount-controller";

/**
 * All controllers except those that create objects in every namespace, because tests count objects,
 * and those that change policies and ServiceCIDRs after they are created.
 */
export const quietControllers: readonly string[] = [
  "*",
  noAccounts,
  "-root-ca-certificate-publisher-controller",
  "-service-cidr-controller",
  "-validatingadmissionpolicy-status-controller",
];

/**
 * The {@link quietControllers}, and the one that creates the ServiceAccount `default`, for tests that
 * create pods in several namespaces.
 */
export const podControllers: readonly string[] = quietControllers.filter((name) => name !== noAccounts);

/** Opens a store for several servers, which is closed after them. */
export function openSharedStorage(): Promise<Storage> {
  const { historyMs, historyBytesMax } = defaultOptions;
  return openMemoryStorage({ clock: systemClock, historyMs, historyBytesMax, valueBytesMax: valueBytesMaxDefault });
}

/**
 * Starts a server, by default with the {@link quietControllers}. The caller closes it in an `after`
 * hook. An engine whose place the options do not name gets an empty one. In memory it is a server of the
 * test kit, which begins with the state of an earlier one with equal options.
 *
 * @param shared see {@link openSharedStorage}; undefined: the server has its own store
 */
export async function startTestServer(options: Partial<ServerOptions> = {}, shared?: Storage): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-test-"));
  const engine = await engineOf(options, shared);
  const own = { controllers: quietControllers, ...engine.options, ...options };
  const { server, kubeconfigFor } = await (shared === undefined &&
  own.storage === "memory" &&
  !options.clientCaFile &&
  !options.clock
    ? startKitServer(own)
    : startFullServer(own, directory, shared));
  let users = 0;
  const kubeconfigPath = join(directory, "kubeconfig");
  writeFileSync(kubeconfigPath, server.kubeconfig, { mode: 0o600 });
  return {
    ...server,
    kubeconfigPath,
    directory,
    async as(name, groups = []) {
      const kubeconfig = await kubeconfigFor(name, groups);
      const path = join(directory, `kubeconfig-${users++}`);
      writeFileSync(path, kubeconfig, { mode: 0o600 });
      return { kubeconfig, kubeconfigPath: path };
    },
    async close() {
      await server.close();
      await engine.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface StartedServer {
  readonly server: RunningServer;
  kubeconfigFor(user: string, groups: readonly string[]): Promise<string>;
}

async function startKitServer({ storage: _memory, ...options }: Partial<ServerOptions>): Promise<StartedServer> {
  const server = await kit.startTestServer(options);
  return { server, kubeconfigFor: (user, groups) => server.kubeconfigFor({ user, groups }) };
}

/** Its users have an authority of their own: their certificates are those of clients, and end. */
async function startFullServer(
  options: Partial<ServerOptions>,
  directory: string,
  shared: Storage | undefined,
): Promise<StartedServer> {
  const authority = await createAuthority({ subject: { commonName: "test users" }, ...validity() });
  const clientCaFile = join(directory, "users.crt");
  writeFileSync(clientCaFile, authority.cert);
  const own = { clientCaFile, ...options };
  const server =
    shared === undefined
      ? await startServer(own)
      : (await openServer({ ...defaultOptions, logger: silentLogger, ...own }, { storage: shared })).running;
  return {
    server,
    async kubeconfigFor(commonName, organizations) {
      const subject = { commonName, organizations };
      const admin = await issueCertificate(authority, { subject, usage: "client", names: [], ...validity() });
      return formatKubeconfig(server.url, { caBundle: field(server.kubeconfig, "certificate-authority-data"), admin });
    },
  };
}

function engineOf({ storage, dataDir, etcd }: Partial<ServerOptions>, shared?: Storage): Promise<TestEngine> {
  const hasPlace = shared !== undefined || dataDir !== undefined || etcd !== undefined;
  return openTestEngine(hasPlace ? "memory" : (storage ?? defaultEngine));
}

function validity(): { notBefore: number; notAfter: number } {
  const now = Date.now();
  return { notBefore: now - 3_600_000, notAfter: now + 86_400_000 };
}

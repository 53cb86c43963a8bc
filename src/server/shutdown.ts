/** The running server as callers see it, and its orderly end. */

import { join } from "node:path";
import { realClock } from "../apimachinery/clock.ts";
import { keepFile } from "../apimachinery/keep-file.ts";
import { hostOf } from "./addresses.ts";
import type { Closers } from "./closers.ts";
import type { ServerHttp } from "./http.ts";
import type { RunningServer, ServerOptions } from "./options.ts";
import { formatKubeconfig } from "./serving/kubeconfig.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";
import type { ServerState } from "./state.ts";

/** How long open requests may take to finish at shutdown, unless new ones are rejected meanwhile. */
const drainMs = 10_000;
/**
 * How long clients may take to end their connections then. Source: `goAwayTimeout` of
 * `golang.org/x/net/http2/server.go`.
 */
const lingerMs = 1_000;

interface Needs {
  readonly http: ServerHttp;
  readonly serving: ServingSetup;
  readonly state: ServerState;
  readonly closers: Closers;
}

/** Writes the kubeconfig of the administrator, unless it is there. */
export async function runningServer(options: ServerOptions, needs: Needs): Promise<RunningServer> {
  const { serving, state, closers } = needs;
  const { dataDir, bindAddress, logger } = options;
  const url = `https://${hostOf(bindAddress)}:${state.port}`;
  const kubeconfig = formatKubeconfig(url, { caBundle: serving.caBundle, admin: serving.admin });
  const file = dataDir === undefined ? undefined : join(dataDir, "kubeconfig");
  const isKept = file !== undefined && (await keepFile(file, { contents: kubeconfig, mode: 0o600 }, logger));
  const kubeconfigFile = isKept ? file : undefined;
  logger.info("serving", { url });
  closers.add(() => drain(options, needs));
  let closing: Promise<void> | undefined;
  return {
    url,
    port: state.port,
    kubeconfig,
    kubeconfigFile,
    get servingCertificate() {
      return serving.material().certificate;
    },
    close() {
      closing ??= closers.close().finally(() => logger.info("stopped"));
      return closing;
    },
  };
}

/**
 * Readiness fails first, and the server leaves the endpoints of the Service `kubernetes`. Then the listener stops,
 * watches end, and open requests finish. With `shutdownSendRetryAfter` the listener stops after that, and rejects
 * requests meanwhile. Source: `RunWithContext` in k8s.io/apiserver@v0.36.0/pkg/server/genericapiserver.go.
 */
async function drain(options: ServerOptions, { http, state }: Needs): Promise<void> {
  const { shutdownDelayMs, shutdownSendRetryAfter, shutdownWatchTerminationGraceMs: graceMs } = options;
  const clock = realClock(options.clock);
  state.isStopping = true;
  const hooks = state.stopHooks.map((stop) => stop());
  if (shutdownDelayMs > 0) await new Promise<void>((resolve) => clock.after(shutdownDelayMs, resolve));
  await Promise.all(hooks);
  state.isDraining = true;
  if (!shutdownSendRetryAfter) http.listener.stop();
  http.watches.endWithin(graceMs, clock);
  await http.open.idle(Math.max(graceMs, shutdownSendRetryAfter ? options.requestTimeoutMs : drainMs));
  http.listener.stop();
  await http.listener.ended(lingerMs);
}

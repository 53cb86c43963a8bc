/**
 * The socket of `--debug-socket-path`: profiles and the level of the log, for who can open it, also when the server
 * answers no other requests. Source: k8s.io/apiserver@v0.36.0/pkg/server/routes/debugsocket.go.
 */
import type { RequestContext } from "../http/contract.ts";
import { listenLocally } from "../http/listener/local-socket.ts";
import { json } from "../http/representation/json.ts";
import { createServe } from "../http/serve.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { pathNotFound } from "../request/answer.ts";
import type { Filter, PathRoute } from "../request/context.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";

function isServed(path: string): boolean {
  return path.startsWith("/debug/pprof") || path.startsWith("/debug/flags");
}

/** Requests are not authenticated: no other path is served, and no resource. */
const rejectOthers: Filter = (context) => {
  if (!isServed(context.info.path)) pathNotFound(context);
};

interface Needs {
  readonly registry: RegistryContext;
  /** The profiles and the flags. */
  readonly routes: readonly PathRoute<RequestContext>[];
  readonly closers: Closers;
}

/** A socket that cannot be opened is logged, as upstream does; the server works without it. */
export async function openDebugSocket(
  { debugSocketPath: path, clock, logger }: ServerOptions,
  { registry, routes, closers }: Needs,
): Promise<void> {
  if (path === undefined) return;
  const onExchange = createServe({
    filters: [rejectOthers],
    registry,
    endpoints: { verbs: {}, computed: {}, subresources: {} },
    routes,
    encodings: [json],
    clock,
    logger,
  });
  try {
    const close = await listenLocally({ path, onExchange, clock });
    closers.add(close);
    logger.info("Opened the debug socket", { path });
  } catch (error) {
    logger.error("Failed to open the debug socket", { path, error: String(error) });
  }
}

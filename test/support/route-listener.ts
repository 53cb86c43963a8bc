/** A server over TLS with some paths, and neither filters nor objects. */
import type { Clock } from "../../src/apimachinery/clock.ts";
import { type ListenOptions, listen } from "../../src/http/listener/listen.ts";
import { json } from "../../src/http/representation/json.ts";
import { createServe } from "../../src/http/serve.ts";
import type { RegistryContext } from "../../src/registry/contract.ts";
import type { PathRoute } from "../../src/request/context.ts";
import { createCertificates } from "../../src/server/serving/certificates.ts";

export interface RouteListener {
  readonly port: number;
  /** PEM of the authority of its certificate. */
  readonly ca: string;
  /** The unexpected errors until now. */
  readonly failures: readonly string[];
  close(): Promise<void>;
}

interface RouteListenOptions {
  readonly routes: readonly PathRoute[];
  readonly clock: Clock;
  /** None by default. */
  readonly acceptsUpgrade?: ListenOptions["acceptsUpgrade"];
}

export async function listenWithRoutes(options: RouteListenOptions): Promise<RouteListener> {
  const { routes, clock, acceptsUpgrade = () => false } = options;
  const certificates = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
  const failures: string[] = [];
  const logger = {
    info() {},
    warn() {},
    error: (message: string, values?: object) => void failures.push(`${message} ${JSON.stringify(values)}`),
  };
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    serving: { certificate: certificates.serving, named: [], clientCa: undefined },
    acceptsUpgrade,
    onExchange: createServe({
      filters: [],
      registry: {} as RegistryContext,
      endpoints: { verbs: {}, computed: {}, subresources: {} },
      routes,
      encodings: [json],
      clock,
      logger,
    }),
    clock,
    logger,
  });
  return { port: listener.port, ca: certificates.ca.cert, failures, close: () => listener.close() };
}

/** Builds the aggregation layer: APIServices, and the requests that other servers serve. */

import { constantly, type Live } from "../apimachinery/followed-files.ts";
import { builtinApiServices } from "../controllers/api-services/desired-api-services.ts";
import {
  type AggregatedRequests,
  aggregatedRequests,
  forwardRequest,
} from "../forwarding/aggregator/aggregated-requests.ts";
import { followApiServices } from "../forwarding/aggregator/api-services.ts";
import { openBackends } from "../forwarding/aggregator/backends.ts";
import type { ApiServices, Backends } from "../forwarding/aggregator/contract.ts";
import { pendingApiServices } from "../forwarding/aggregator/pending-api-services.ts";
import { Transports } from "../forwarding/aggregator/transports.ts";
import { type AggregationMetrics, aggregationMetrics } from "../metrics/aggregation-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { ServiceSource } from "../webhook/service-resolver.ts";
import { selfAddress } from "./addresses.ts";
import { type AggregatedDocuments, openAggregatedDocuments } from "./aggregated-documents.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import type { KeyPair } from "./serving/certificates.ts";
import { keyPairFiles } from "./serving/serving-setup.ts";
import type { ServerState } from "./state.ts";
import { serviceResolver, serviceSource } from "./webhooks.ts";

export interface ServerAggregation {
  readonly services: ApiServices;
  readonly backends: Backends;
  readonly source: ServiceSource;
  readonly find: AggregatedRequests;
  readonly documents: AggregatedDocuments;
  /** The built-in APIServices that have not been available yet. */
  readonly pending: () => readonly string[];
  readonly observer: AggregationMetrics["observer"];
  /** The client certificate of this server; undefined without the flags. */
  readonly certificate: () => KeyPair | undefined;
}

interface Needs {
  readonly registry: RegistryContext;
  readonly state: Pick<ServerState, "port">;
  readonly metrics: ServerMetrics;
  readonly closers: Closers;
}

/**
 * Reads the APIServices of the store.
 *
 * @throws Error when a file of the proxy client certificate cannot be read or is not valid
 */
export async function openAggregation(options: ServerOptions, needs: Needs): Promise<ServerAggregation> {
  const { registry, state, metrics, closers } = needs;
  const { catalog, clock, gates } = registry;
  const { logger, rejectForwardingRedirects: rejectsRedirects } = options;
  const certificate = await proxyCertificate(options);
  closers.add(() => certificate.close());
  certificate.follow(() => {});
  const services = followApiServices({ catalog, clock, logger });
  closers.add(() => services.close());
  const transports = new Transports(certificate.current);
  const resolve = serviceResolver(options, { catalog, self: () => selfAddress(options, state) });
  const backends = openBackends({ resolve, transports });
  closers.add(() => backends.close());
  const { observer, collect } = aggregationMetrics(() => services.list());
  metrics.add(collect);
  const forwarding = {
    services,
    backends,
    transports,
    clock,
    rejectsRedirects,
    sendsUid: gates.enabled("RemoteRequestHeaderUID"),
    terminated: metrics.requests.notForwarded,
    certificates: observer,
  };
  const isServed = catalog.findServed("apiregistration.k8s.io", "v1", "apiservices") !== undefined;
  const own = isServed ? builtinApiServices(catalog).map(({ name }) => name) : [];
  await services.tried;
  const documents = openAggregatedDocuments({
    apiServices: services,
    backends,
    clock,
    logger,
    closers,
    forward: (context, remote) => forwardRequest(context, remote, forwarding),
  });
  return {
    services,
    backends,
    source: serviceSource(catalog),
    find: aggregatedRequests(forwarding),
    documents,
    pending: pendingApiServices(services, own),
    observer,
    certificate: certificate.current,
  };
}

/** As upstream, one of the two files alone has no effect. */
async function proxyCertificate(options: ServerOptions): Promise<Live<KeyPair | undefined>> {
  const { proxyClientCertFile: cert, proxyClientKeyFile: key } = options;
  if (cert === undefined || key === undefined) return constantly(undefined);
  return keyPairFiles(options, "aggregator-proxy-cert", [cert, key]);
}

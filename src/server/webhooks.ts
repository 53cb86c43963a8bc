/** Builds the clients of webhooks that objects name, and the resolver of webhooks that are Services. */
import { type ConversionWebhooks, openConversionWebhooks } from "../apis/apiextensions/conversion/webhook-clients.ts";
import type { Catalog } from "../catalog/contract.ts";
import { conversionMetrics } from "../metrics/conversion-metrics.ts";
import { currentObject } from "../registry/current-entry.ts";
import type { ReviewObserver } from "../request/webhook-review.ts";
import type { Address, LoopbackCredentials } from "../webhook/contract.ts";
import type { ConversionObserver } from "../webhook/conversion-observer.ts";
import {
  clusterIpResolver,
  type EndpointSliceView,
  endpointResolver,
  type ServiceResolver,
  type ServiceSource,
  type ServiceView,
  withLoopback,
} from "../webhook/service-resolver.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";

interface ServerWebhooks {
  /** Resolves Services to addresses. */
  readonly resolve: ServiceResolver;
  readonly conversion: ConversionWebhooks;
  close(): void;
}

interface Needs {
  readonly catalog: Catalog;
  readonly metrics: Pick<ServerMetrics, "add" | "calls">;
  /** Returns where this server listens: the address of the Service `kubernetes`. */
  readonly self: () => Address;
  readonly loopback: LoopbackCredentials;
  /** Only on test servers. */
  readonly reviewed?: ReviewObserver | undefined;
}

type Options = Pick<ServerOptions, "serviceResolver" | "enableAggregatorRouting">;

export function openWebhooks(options: Options, needs: Needs): ServerWebhooks {
  const conversions = conversionMetrics();
  needs.metrics.add(conversions.collect);
  const resolve = serviceResolver(options, needs);
  const { metrics, loopback, reviewed } = needs;
  const observer = reviewed === undefined ? conversions.observer : reportingTo(reviewed, conversions.observer);
  const conversion = openConversionWebhooks({ resolve, loopback, observer, calls: metrics.calls, traced: true });
  return { resolve, conversion, close: () => conversion.close() };
}

/** Reports conversions to a test server, too. */
function reportingTo(reviewed: ReviewObserver, observer: ConversionObserver): ConversionObserver {
  return {
    called: observer.called,
    converted(definition, from, to, succeeded, durationMs) {
      observer.converted(definition, from, to, succeeded, durationMs);
      const object = { group: "", resource: "", subresource: "", namespace: "", name: "" };
      const outcome = succeeded ? "converted" : "failed";
      const call = {
        type: "conversion",
        configuration: definition,
        webhook: "",
        operation: `${from} → ${to}`,
      } as const;
      reviewed({ ...call, ...object, outcome, message: "", durationMs });
    },
  };
}

/** Resolves the Services of webhooks to addresses. */
export function serviceResolver(
  { serviceResolver: given, enableAggregatorRouting }: Options,
  { catalog, self }: Pick<Needs, "catalog" | "self">,
): ServiceResolver {
  if (given !== undefined) return given;
  const source = serviceSource(catalog);
  return withLoopback(enableAggregatorRouting ? endpointResolver(source) : clusterIpResolver(source), self);
}

const serviceLabel = "kubernetes.io/service-name";

/** Reads Services and their endpoints from the watch caches. */
export function serviceSource(catalog: Catalog): ServiceSource {
  return {
    service: async (namespace, name) =>
      (await currentObject(catalog, { group: "", resource: "services" }, namespace, name)) as ServiceView | undefined,
    async endpointSlices(namespace, service) {
      const store = catalog.findResource("discovery.k8s.io", "endpointslices")?.store;
      if (store === undefined) return [];
      const all = (await store.cache.current()).range(store.keyOf(namespace, ""));
      const own = [...all].filter(({ index }) => index.labels.get(serviceLabel) === service);
      return own.map((entry) => store.decode(entry) as unknown as EndpointSliceView);
    },
  };
}

/** Builds the metrics of a server, and the observers that other parts report to. */
import type { AdmissionObserver } from "../admission/contract.ts";
import type { Clock } from "../apimachinery/clock.ts";
import { gateGroups, knownGates } from "../apimachinery/feature-gates.ts";
import { versionBody } from "../apimachinery/release.ts";
import type { ImpersonationObserver } from "../authorization/impersonation/contract.ts";
import type { Installer } from "../catalog/install.ts";
import { admissionMetrics } from "../metrics/admission-metrics.ts";
import { type AllocatorMetrics, allocatorMetrics } from "../metrics/allocator-metrics.ts";
import { type AuthenticationMetrics, authenticationMetrics } from "../metrics/authentication-metrics.ts";
import { cacheMetrics } from "../metrics/cache-metrics.ts";
import type { CallMetrics } from "../metrics/call-metrics.ts";
import { configurationMetrics } from "../metrics/configuration-metrics.ts";
import type { EtcdMetrics } from "../metrics/etcd-metrics.ts";
import { type HealthMetrics, healthMetrics } from "../metrics/health-metrics.ts";
import { impersonationMetrics } from "../metrics/impersonation-metrics.ts";
import { type KubeletMetrics, kubeletMetrics } from "../metrics/kubelet-metrics.ts";
import { type LeaderElectionMetrics, leaderElectionMetrics } from "../metrics/leader-election-metrics.ts";
import { createMetrics, type Metrics, type MetricsCollector, type MetricsSources } from "../metrics/metrics.ts";
import { checkMetricsOptions } from "../metrics/options.ts";
import { type PolicyMetrics, policyMetrics } from "../metrics/policy-metrics.ts";
import { type QueueMetrics, queueMetrics } from "../metrics/queue-metrics.ts";
import { type ServiceAccountMetrics, serviceAccountMetrics } from "../metrics/service-account-metrics.ts";
import { type ShowMetrics, shownMetrics } from "../metrics/shown-metrics.ts";
import { type SigningRequestMetrics, signingRequestMetrics } from "../metrics/signing-request-metrics.ts";
import { type TokenMetrics, tokenMetrics } from "../metrics/token-metrics.ts";
import type { UnexpectedErrors } from "../metrics/unexpected-errors.ts";
import { type ValidationMetrics, validationMetrics } from "../metrics/validation-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { type Storage, StorageUnavailable } from "../storage/contract.ts";
import { clustersOf } from "../storage/routed-storage.ts";
import type { CallObserver } from "../webhook/contract.ts";
import { cachesByResource } from "./caches-by-resource.ts";
import type { ObjectCounts } from "./object-counts.ts";
import type { ServerOptions } from "./options.ts";

/** @throws Error when an option, or the file that it names, is not valid */
export async function metricsSettings({ metrics, logger }: ServerOptions): Promise<ShowMetrics> {
  return shownMetrics(metrics, await checkMetricsOptions(metrics), logger);
}

export interface ServerMetrics extends Metrics {
  readonly authentication: AuthenticationMetrics;
  readonly tokens: TokenMetrics;
  readonly impersonation: ImpersonationObserver & { readonly clock: Clock };
  readonly admission: AdmissionObserver & { readonly clock: Clock };
  readonly health: HealthMetrics;
  readonly serviceAccounts: ServiceAccountMetrics;
  readonly queues: QueueMetrics;
  readonly calls: CallObserver;
  readonly validation: ValidationMetrics;
  readonly policies: PolicyMetrics;
  readonly kubelet: KubeletMetrics;
  readonly elections: LeaderElectionMetrics;
  readonly allocators: AllocatorMetrics;
  readonly signingRequests: SigningRequestMetrics;
  readonly unexpected: UnexpectedErrors;
  /** Adds the metrics of another part. */
  add(collect: MetricsCollector): void;
}

interface Needs extends Pick<RegistryContext, "catalog" | "clock" | "gates">, Pick<MetricsSources, "audit"> {
  /** Opened before the other metrics, because audit calls webhooks, too. */
  readonly calls: CallMetrics;
  readonly etcd: EtcdMetrics;
  /** Opened first, because the clock reports to it. */
  readonly unexpected: UnexpectedErrors;
  readonly engine: ServerOptions["storage"];
  readonly objectCounts: ObjectCounts;
  readonly storage: Storage;
  readonly installer: Pick<Installer, "caches">;
}

/** Opens all metrics. */
export function openMetrics(
  show: ShowMetrics,
  { audit, calls, engine, etcd, objectCounts, storage, installer, catalog, clock, gates, unexpected }: Needs,
): ServerMetrics {
  const observers = {
    queues: queueMetrics(() => performance.now()),
    admission: { ...admissionMetrics(), clock },
    authentication: authenticationMetrics(clock),
    impersonation: { ...impersonationMetrics(), clock },
    tokens: tokenMetrics(),
    serviceAccounts: serviceAccountMetrics(),
    validation: validationMetrics(),
    policies: policyMetrics(),
    kubelet: kubeletMetrics(),
    elections: leaderElectionMetrics(),
    allocators: allocatorMetrics(),
    signingRequests: signingRequestMetrics(),
    unexpected,
  };
  const health = healthMetrics();
  const caches = () => cachesByResource(catalog, installer);
  const counted = cacheMetrics(() => caches().map(([name, { counts }]) => [name, counts] as const));
  const collectors: MetricsCollector[] = [
    counted,
    ...[calls, etcd, ...Object.values(observers)].map(({ collect }) => collect),
    () => configurationMetrics([...gateGroups, ...knownGates(gates.version.emulated)], gates, engine),
  ];
  const metrics = createMetrics(
    clock,
    {
      audit,
      collectors,
      slis: health.collect,
      storageSizesBytes: () => Promise.all(clustersOf(storage).map(sizeOf)),
      build: versionBody(gates.version),
      objectCounts,
      cacheRevisions: () =>
        caches()
          .filter(([, { isLoaded }]) => isLoaded)
          .map(([name, cache]) => [name, cache.latest().revision] as const),
    },
    show,
  );
  return {
    ...metrics,
    ...observers,
    calls: calls.observer,
    health,
    add: (collect) => void collectors.push(collect),
  };
}

/** The size of a cluster; undefined when it does not answer. */
function sizeOf(cluster: Storage): Promise<number | undefined> {
  return cluster.sizeBytes().catch((error: unknown) => {
    if (!(error instanceof StorageUnavailable)) throw error;
    return undefined;
  });
}

/**
 * The components whose health ComponentStatus shows.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/rest/storage_core.go
 */
import type { HealthProbe } from "../apis/core/component-status.ts";
import type { Storage } from "../storage/contract.ts";
import { probeHealth } from "../webhook/health-probe.ts";

const host = "127.0.0.1";

/**
 * `etcd-0` is the store, whichever engine it has; the next ones are the clusters of `--etcd-servers-overrides`, one for
 * each override. The others are probed at their default ports on this host.
 */
export function componentProbes(
  clusters: readonly Pick<Storage, "checkReadable">[],
): Readonly<Record<string, HealthProbe>> {
  return {
    "controller-manager": () => probeHealth({ host, port: 10257 }),
    ...Object.fromEntries(clusters.map((cluster, at) => [`etcd-${at}`, () => probeCluster(cluster)])),
    scheduler: () => probeHealth({ host, port: 10259 }),
  };
}

function probeCluster(cluster: Pick<Storage, "checkReadable">): ReturnType<HealthProbe> {
  return cluster.checkReadable().then(
    () => ({ status: "True", message: "ok" }),
    (error: Error) => ({ status: "False", error: etcdProblem(error) }),
  );
}

/** Source: `newETCD3Check` in k8s.io/apiserver@v0.36.0/pkg/storage/storagebackend/factory/etcd3.go. */
export function etcdProblem({ message }: Error): string {
  return `error getting data from etcd: ${message}`;
}

/**
 * Which reconciler maintains the endpoints of the Service `kubernetes`; `--endpoint-reconciler-type`.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/controlplane/reconcilers.
 */
export type EndpointReconcilerType = "master-count" | "lease" | "none";

/** Maintains the endpoints of the Service `kubernetes`, in which each running server has an address. */
export interface EndpointReconciler {
  /**
   * Adds the address of this server. With leases it also removes those of servers that do not run any more, and by
   * count those beyond the number.
   * @throws ApiError · Error when the store lists no server, not even this one
   */
  reconcile(): Promise<void>;
  /**
   * Removes the address of this server.
   * @param isStopping whether the server stops; otherwise the address is one that it left behind
   * @returns whether it was removed; false as well where the next `reconcile` replaces what is left behind
   * @throws ApiError
   */
  remove(isStopping: boolean): Promise<boolean>;
}

/** The options of the Service `kubernetes` and its endpoints. */
export interface KubernetesServiceOptions {
  /** Maintains the endpoints. */
  readonly endpointReconciler: EndpointReconcilerType;
  /** Number of servers, for the reconciler `master-count`. */
  readonly apiserverCount: number;
  /** If not 0, the Service has the type NodePort and this port. */
  readonly kubernetesServiceNodePort: number;
}

/**
 * The health checks of what a start does, with the names and in the order of upstream's post-start
 * hooks. Sources: `AddPostStartHook` in
 * k8s.io/kubernetes@v1.36.0/pkg/controlplane, k8s.io/apiserver@v0.36.0/pkg/server/config.go,
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/apiserver.go and
 * k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/apiserver.go.
 */
import type { HealthCheck } from "../http/endpoints/health.ts";
import type { ServerState, StartStep } from "./state.ts";

interface StartChecksOptions {
  readonly state: Pick<ServerState, "reached">;
  /** The hooks of flow control. */
  readonly flowControl: readonly string[];
  /** Whether CustomResourceDefinitions are served. */
  readonly hasDefinitions: boolean;
  /** Whether other servers learn the address of this one, and whether it forwards requests to them. */
  readonly peers: "none" | "announced" | "forwarded";
  /** Whether the server has an identity lease. */
  readonly hasIdentity: boolean;
  /** Whether the server is ready when its watch caches are loaded. */
  readonly waitsForCaches: boolean;
  /** Whether this server coordinates elections. */
  readonly coordinatesElections: boolean;
  /** Whether changes of the encryption of stored values are used without a restart. */
  readonly reloadsEncryption: boolean;
  /** Whether the proxy client certificate comes from files. */
  readonly reloadsProxyCertificate: boolean;
  /** Whether the storage versions of this server are reported. */
  readonly reportsStorageVersions: boolean;
  readonly autoregistered: HealthCheck;
}

/** The step that completes a hook; undefined if it is complete when the server listens. */
type Hook = readonly [name: string, step?: StartStep];

/** @returns the checks of all parts that this server has */
export function startChecks(options: StartChecksOptions): HealthCheck[] {
  const { state, flowControl, hasDefinitions, reloadsEncryption, reloadsProxyCertificate, autoregistered } = options;
  const checkOf = ([name, step]: Hook): HealthCheck => ({
    name: `poststarthook/${name}`,
    check: () => (step === undefined || state.reached.has(step) ? undefined : "not finished"),
  });
  return [
    ...[
      ...(reloadsEncryption ? [["start-encryption-provider-config-automatic-reload"] as const] : []),
      ...generic,
      ...flowControl.map((name): Hook => [name]),
      ["storage-object-count-tracker-hook"] as const,
      ...(hasDefinitions ? definitions : []),
      ...controlPlane(options),
      ...(reloadsProxyCertificate ? [["aggregator-reload-proxy-client-cert"] as const] : []),
      ...aggregator,
      ...(options.reportsStorageVersions
        ? [["built-in-resources-storage-version-updater", "storageVersions"] as const]
        : []),
      ["kube-apiserver-autoregistration", "controllers"] as const,
    ].map(checkOf),
    autoregistered,
    ...documents.map(checkOf),
  ];
}

const generic: readonly Hook[] = [["start-apiserver-admission-initializer"], ["generic-apiserver-start-informers"]];
const definitions: readonly Hook[] = [
  ["start-apiextensions-informers", "definitions"],
  ["start-apiextensions-controllers", "definitions"],
  ["crd-informer-synced", "definitions"],
];
const identity: readonly Hook[] = [
  ["start-kube-apiserver-identity-lease-controller", "identity"],
  ["start-kube-apiserver-identity-lease-garbage-collector", "identity"],
];
const forwarding: readonly Hook[] = [
  ["mixed-version-proxy-handler", "identity"],
  ["local-discovery-cache-sync"],
  ["peer-discovery-workers"],
];
const controlPlane = ({ hasIdentity, waitsForCaches, coordinatesElections, peers }: StartChecksOptions): Hook[] => [
  ...(coordinatesElections
    ? [["start-kube-apiserver-coordinated-leader-election-controller", "controllers"] as const]
    : []),
  ...(peers === "none" ? [] : [["peer-endpoint-reconciler-controller", "identity"] as const]),
  ...(peers === "forwarded" ? forwarding : []),
  ["start-cluster-authentication-info-controller", "controllers"],
  ...(hasIdentity ? identity : []),
  ...(waitsForCaches ? [["storage-readiness", "caches"] as const] : []),
  ["start-legacy-token-tracking-controller", "controllers"],
  ["start-service-ip-repair-controllers", "objects"],
  ["rbac/bootstrap-roles", "objects"],
  ["scheduling/bootstrap-system-priority-classes", "objects"],
  ["priority-and-fairness-config-producer", "objects"],
  ["bootstrap-controller", "objects"],
  ["start-kubernetes-service-cidr-controller", "objects"],
];
const aggregator: readonly Hook[] = [
  ["start-kube-aggregator-informers"],
  ["apiservice-status-local-available-controller", "controllers"],
  ["apiservice-status-remote-available-controller", "controllers"],
  ["apiservice-registration-controller"],
  ["apiservice-discovery-controller", "controllers"],
];
const documents: readonly Hook[] = [["apiservice-openapi-controller"], ["apiservice-openapiv3-controller"]];

/**
 * Flags of the APIs that are served, of the controllers, and of connections to services, other servers and kubelets. Names
 * and defaults are kube-apiserver's, and kube-controller-manager's for the controllers.
 */

import { controllerNames } from "../../controllers/enabled.ts";
import type { EndpointReconcilerType } from "../../server/public-types.ts";
import { type Flag, type FlagType, FlagValueError } from "./contract.ts";
import {
  bool,
  checked,
  cidrs,
  duration,
  file,
  integer,
  list,
  pairs,
  portRange,
  signedDuration,
  text,
  unlessEmpty,
  unsignedPort,
} from "./flag-types.ts";

const reconcilers: readonly EndpointReconcilerType[] = ["master-count", "lease", "none"];

const reconcilerType: FlagType<EndpointReconcilerType> = unlessEmpty({
  value: "type",
  choices: reconcilers,
  read(text) {
    const type = reconcilers.find((one) => one === text);
    if (type === undefined) throw new FlagValueError(`Reconciler not implemented: ${text}`);
    return type;
  },
});

export const apiFlags: readonly Flag[] = [
  {
    name: "runtime-config",
    option: "runtimeConfig",
    type: pairs,
    default: "",
    help: "Enables or disables versions and resources, such as apps/v1=false or batch/v1/jobs=false; api/all, api/ga, api/beta and api/alpha select groups of versions. Comma-separated pairs; may be repeated.",
    inCode: "The value of `--runtime-config`.",
  },
  {
    name: "controllers",
    option: "controllers",
    type: list("list"),
    default: ["*"],
    help: `Comma-separated list of controllers to run: * for all except bootstrap-signer-controller and token-cleaner-controller, foo for the controller foo, -foo to disable it. In programs of \`coxswain envtest\` the default is none. All controllers: ${controllerNames.join(", ")}.`,
    inCode: "Names of the controllers that run: `*` for all, `-name` to disable one.",
    upstream: null,
  },
  {
    name: "enable-garbage-collector",
    option: "enableGarbageCollector",
    type: bool,
    default: true,
    help: "If false, dependents stay when their owner is deleted: the garbage collector does not run, and deletions get no finalizers for it.",
  },
  {
    name: "allow-privileged",
    option: "allowPrivileged",
    type: bool,
    default: true,
    help: "If false, pods and pod templates with privileged containers or Windows HostProcess containers are rejected.",
    upstream: "false",
  },
  {
    name: "resource-quota-sync-period",
    option: "resourceQuotaSyncMs",
    type: duration,
    default: 300_000,
    help: "Interval at which the usage of all resource quotas is counted again. 0 is never.",
    upstream: null,
  },
  {
    name: "feature-gates",
    option: "featureGates",
    type: pairs,
    default: "",
    help: "Enables or disables features by name, such as Name=true; AllAlpha and AllBeta select all alpha and beta features. Comma-separated pairs; may be repeated.",
    inCode: "The value of `--feature-gates`.",
  },
  {
    name: "service-cluster-ip-range",
    option: "serviceClusterIpRange",
    type: unlessEmpty(cidrs("service-cluster-ip-range")),
    default: "10.0.0.0/24",
    help: "IP ranges for Services: one, or an IPv4 and an IPv6 range separated by a comma. The Service kubernetes gets the first address.",
    inCode: "One CIDR or two of different families, separated by a comma: the cluster IPs of Services.",
    upstream: "",
  },
  {
    name: "service-node-port-range",
    option: "serviceNodePortRange",
    type: portRange,
    default: "30000-32767",
    help: "Range of node ports for Services.",
    inCode: "Ports for Services of type NodePort, such as `30000-32767`.",
  },
  {
    name: "endpoint-reconciler-type",
    option: "endpointReconciler",
    type: reconcilerType,
    help: "How the endpoints of the Service kubernetes are maintained: lease (the servers that run), master-count (deprecated: as many as --apiserver-count) or none.",
  },
  {
    name: "apiserver-count",
    option: "apiserverCount",
    type: integer(),
    help: "Number of servers in the cluster, for --endpoint-reconciler-type=master-count.",
    deprecated: "apiserver-count is deprecated and will be removed in a future version.",
  },
  {
    name: "kubernetes-service-node-port",
    option: "kubernetesServiceNodePort",
    type: integer(),
    help: "If not 0, the Service kubernetes is created with the type NodePort and this port.",
  },
  {
    name: "enable-aggregator-routing",
    option: "enableAggregatorRouting",
    type: bool,
    default: false,
    help: "Connects to the Services of webhooks and APIServices by their endpoint addresses instead of the cluster IP.",
  },
  {
    name: "proxy-client-cert-file",
    option: "proxyClientCertFile",
    type: file,
    default: undefined,
    help: "PEM file with the client certificate by which servers of APIServices trust the user that this server names. The file is reloaded when it changes.",
    inCode:
      "PEM file with the client certificate for servers of APIServices, reloaded when it changes. Undefined: they get none, and do not trust the headers that name the user.",
  },
  {
    name: "proxy-client-key-file",
    option: "proxyClientKeyFile",
    type: file,
    default: undefined,
    help: "PEM file with the key of --proxy-client-cert-file.",
  },
  {
    name: "peer-ca-file",
    option: "peerCaFile",
    type: file,
    help: "PEM file with the certificate authorities of other servers over the same store. Requests for resources that only they serve are forwarded to them. Needs --proxy-client-cert-file. The file is reloaded when it changes.",
    inCode:
      "PEM file with the authorities of other servers over the same store, reloaded when it changes: requests for resources that only they serve are forwarded to them. Undefined: these are not found.",
  },
  {
    name: "peer-advertise-ip",
    option: "peerAdvertiseIp",
    type: unlessEmpty(text("ip")),
    help: "Address at which other servers over the same store reach this one, with --peer-advertise-port. Without both, they use that of --advertise-address.",
    inCode:
      "Address at which other servers reach this one. Used with `peerAdvertisePort`; otherwise `advertiseAddress`.",
  },
  {
    name: "peer-advertise-port",
    option: "peerAdvertisePort",
    type: unlessEmpty(integer({ min: 1, max: 65_535, value: "port" })),
    help: "Port for --peer-advertise-ip.",
    inCode: "Port at which other servers reach this one. Used with `peerAdvertiseIp`.",
  },
  {
    name: "aggregator-reject-forwarding-redirect",
    option: "rejectForwardingRedirects",
    type: bool,
    default: true,
    help: "Answers 502 when the server of an APIService redirects a request.",
  },
];

const lockType = checked(text("type"), (type) => {
  if (type !== "leases") throw new FlagValueError(`Invalid lock-type ${type}`);
});

/** @param value what `--help` calls it */
function nonEmpty(value: string): FlagType<string> {
  return checked(text(value), (name) => {
    if (name === "") throw new FlagValueError("must not be empty");
  });
}

export const leaderElectionFlags: readonly Flag[] = [
  {
    name: "leader-elect",
    option: "leaderElection.elect",
    type: bool,
    help: "Runs the controllers only while this server holds the lease of kube-controller-manager. If unset, true if other servers can use the same store.",
    upstream: null,
  },
  {
    name: "leader-elect-lease-duration",
    option: "leaderElection.leaseDurationMs",
    type: duration,
    help: "How long other servers wait after the last observed renewal of the lease before they acquire it.",
    upstream: null,
  },
  {
    name: "leader-elect-renew-deadline",
    option: "leaderElection.renewDeadlineMs",
    type: duration,
    help: "How long after the last renewal of the lease this server stops its controllers. Less than the lease duration.",
    upstream: null,
  },
  {
    name: "leader-elect-retry-period",
    option: "leaderElection.retryPeriodMs",
    type: duration,
    help: "Interval of attempts to acquire or to renew the lease.",
    upstream: null,
  },
  {
    name: "leader-elect-resource-lock",
    type: lockType,
    help: "The type of the object that is the lock: leases.",
    default: "leases",
    upstream: null,
  },
  {
    name: "leader-elect-resource-name",
    option: "leaderElection.resourceName",
    type: nonEmpty("name"),
    help: "Name of the lease.",
    upstream: null,
  },
  {
    name: "leader-elect-resource-namespace",
    option: "leaderElection.resourceNamespace",
    type: nonEmpty("namespace"),
    help: "Namespace of the lease.",
    upstream: null,
  },
  {
    name: "coordinated-leadership-lease-duration",
    option: "coordinatedLeadership.leaseDurationMs",
    type: signedDuration,
    help: "With the feature gate CoordinatedLeaderElection: as --leader-elect-lease-duration, for the server that elects the holders of other leases.",
  },
  {
    name: "coordinated-leadership-renew-deadline",
    option: "coordinatedLeadership.renewDeadlineMs",
    type: signedDuration,
    help: "With the feature gate CoordinatedLeaderElection: as --leader-elect-renew-deadline, for the same server.",
  },
  {
    name: "coordinated-leadership-retry-period",
    option: "coordinatedLeadership.retryPeriodMs",
    type: duration,
    help: "With the feature gate CoordinatedLeaderElection: as --leader-elect-retry-period, for the same server.",
  },
];

export const kubeletFlags: readonly Flag[] = [
  {
    name: "kubelet-certificate-authority",
    option: "kubelet.certificateAuthorityFile",
    type: file,
    help: "PEM file with the certificate authorities of the serving certificates of kubelets. If unset, these are not verified. The file is reloaded when it changes.",
  },
  {
    name: "kubelet-client-certificate",
    option: "kubelet.clientCertificateFile",
    type: file,
    help: "PEM file with the client certificate for kubelets. The file is reloaded when it changes.",
  },
  {
    name: "kubelet-client-key",
    option: "kubelet.clientKeyFile",
    type: file,
    help: "PEM file with the key of --kubelet-client-certificate. The file is reloaded when it changes.",
  },
  {
    name: "kubelet-preferred-address-types",
    option: "kubelet.preferredAddressTypes",
    type: list("types"),
    help: "Comma-separated list of types of node addresses, the most preferred first: the address of a kubelet is the first one of these types.",
  },
  {
    name: "kubelet-port",
    option: "kubelet.port",
    type: unsignedPort,
    help: "The port of kubelets whose nodes report none.",
    deprecated: "kubelet-port is deprecated and will be removed.",
  },
  {
    name: "kubelet-check-addresses",
    option: "kubelet.checksAddresses",
    type: bool,
    help: "Rejects logs, exec, attach and port-forward of kubelets at loopback, link-local, multicast, broadcast and unspecified addresses, which are always rejected for proxies.",
    upstream: null,
  },
  {
    name: "max-connection-bytes-per-sec",
    option: "maxConnectionBytesPerSec",
    type: integer(),
    default: 0,
    help: "If not 0, the rate of each direction of exec, attach, port-forward, and of proxied connections that change their protocol, in bytes.",
    inCode:
      "Bytes in a second for each direction of exec, attach, port-forward, and proxied connections that have changed their protocol. 0: unlimited.",
  },
  {
    name: "kubelet-read-only-port",
    type: unsignedPort,
    help: "Without effect, in upstream, too.",
    default: "10255",
    deprecated: "kubelet-read-only-port is deprecated and will be removed.",
  },
];

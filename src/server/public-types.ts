/** The types of a server and its options, which both `coxswain` and `coxswain/testing` export. */
export type { AdmissionOptions } from "../admission/contract.ts";
export type { Clock } from "../apimachinery/clock.ts";
export type { VersionOptions } from "../apimachinery/effective-version.ts";
export type { Logger } from "../apimachinery/logger.ts";
export type { ModuleLevel, Verbosity } from "../apimachinery/verbosity.ts";
export type {
  AuditBackendOptions,
  AuditBatchOptions,
  AuditLogOptions,
  AuditOptions,
  AuditTruncateOptions,
  AuditWebhookOptions,
} from "../audit/contract.ts";
export type { OidcOptions } from "../authentication/configuration/contract.ts";
export type { RequestHeaderOptions, TokenWebhookSettings } from "../authentication/contract.ts";
export type { AuthorizationOptions } from "../authorization/contract.ts";
export type {
  EndpointReconcilerType,
  KubernetesServiceOptions,
} from "../controllers/bootstrap/kubernetes-service/contract.ts";
export type { ElectionTimes, LeaderElectionOptions } from "../controllers/leader-election/contract.ts";
export type { KubeletOptions } from "../forwarding/kubelet/contract.ts";
export type { AddressPolicy } from "../forwarding/proxy/contract.ts";
export type { NamedCertificateFiles, TlsOptions } from "../http/listener/contract.ts";
export type { MetricsOptions } from "../metrics/contract.ts";
export type { StorageMediaType } from "../registry/contract.ts";
export type { EtcdTls } from "../storage/etcd/api/endpoints.ts";
export type { EtcdOverride, EtcdServerOptions } from "../storage/etcd/options.ts";
export type { Address as ServiceAddress } from "../webhook/contract.ts";
export type { ServiceResolver } from "../webhook/service-resolver.ts";
export type { RunningServer, ServerOptions } from "./options.ts";

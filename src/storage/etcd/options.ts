/** The options of the engine etcd that users set. */
import type { EtcdTls } from "./api/endpoints.ts";

/** Other servers for the objects of one resource, for instance for events. */
export interface EtcdOverride {
  readonly group: string;
  readonly resource: string;
  readonly servers: readonly string[];
}

export interface EtcdServerOptions extends EtcdTls {
  /** URLs of members: `http://`, `https://` or `unix://`. */
  readonly servers: readonly string[];
  readonly overrides: readonly EtcdOverride[];
  /** Replaces `/registry` at the start of keys. */
  readonly prefix: string;
  /** How long keys with a time to live join a lease. */
  readonly leaseReuseSeconds: number;
  /** Limits of health checks, and of readiness checks. */
  readonly healthTimeoutMs: number;
  readonly readyTimeoutMs: number;
  /** How often the sizes of the databases of members are read for a metric; 0: never. */
  readonly sizePollMs: number;
}

/** The defaults of kube-apiserver. */
export const etcdDefaults: Omit<EtcdServerOptions, "servers"> = {
  overrides: [],
  prefix: "/registry",
  leaseReuseSeconds: 60,
  healthTimeoutMs: 2_000,
  readyTimeoutMs: 2_000,
  sizePollMs: 30_000,
};

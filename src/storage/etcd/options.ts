/** The options of the engine etcd that users set. */
import type { EtcdTls } from "./api/endpoints.ts";

/** Other servers for the objects of one resource, for instance for events. */
export interface EtcdOverride {
  /** The API group of the resource; empty for the core group. */
  readonly group: string;
  /** The plural name of the resource. */
  readonly resource: string;
  /** URLs of members, as in `EtcdServerOptions.servers`. */
  readonly servers: readonly string[];
}

/** An etcd cluster, and how the server uses it. */
export interface EtcdServerOptions extends EtcdTls {
  /** URLs of members: `http://`, `https://` or `unix://`. */
  readonly servers: readonly string[];
  /** Resources whose objects are in other clusters. */
  readonly overrides: readonly EtcdOverride[];
  /** Replaces `/registry` at the start of keys. */
  readonly prefix: string;
  /** How long keys with a time to live join a lease. */
  readonly leaseReuseSeconds: number;
  /** Limit of health checks. */
  readonly healthTimeoutMs: number;
  /** Limit of readiness checks. */
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

/**
 * Flags of the store. Those of etcd have upstream's names, checks and messages. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/server/options/etcd.go`.
 */
import { quoteGo } from "../../lib/json/quote.ts";
import type { StorageMediaType } from "../../server/public-types.ts";
import type { EtcdOverride } from "../../storage/etcd/options.ts";
import { type Flag, FlagError, type FlagType, FlagValueError } from "./contract.ts";
import {
  bool,
  byteCount,
  checked,
  duration,
  file,
  integer,
  list,
  listOf,
  stringSlice,
  text,
  word,
} from "./flag-types.ts";

/** A duration of which 0 is as an unset flag. */
const unlessZero: FlagType<number> = { ...duration, read: (text, before) => duration.read(text, before) || undefined };

export const etcdFlags: readonly Flag[] = [
  {
    name: "etcd-servers",
    option: "etcd.servers",
    type: list("urls"),
    help: "URLs of etcd servers, separated by commas. Objects are stored there unless --storage names another engine.",
  },
  {
    name: "etcd-servers-overrides",
    option: "etcd.overrides",
    type: listOf("overrides", parseOverride),
    help: "Other etcd servers for some resources, separated by commas: group/resource#servers, where servers are URLs, separated by semicolons.",
  },
  {
    name: "etcd-prefix",
    option: "etcd.prefix",
    type: text("prefix"),
    help: "The prefix of all keys in etcd.",
  },
  {
    name: "etcd-cafile",
    option: "etcd.caFile",
    type: file,
    help: "PEM file with the authorities of etcd servers.",
  },
  {
    name: "etcd-certfile",
    option: "etcd.certFile",
    type: file,
    help: "PEM file with the client certificate for etcd.",
  },
  {
    name: "etcd-keyfile",
    option: "etcd.keyFile",
    type: file,
    help: "PEM file with the key of --etcd-certfile.",
  },
  {
    name: "etcd-healthcheck-timeout",
    option: "etcd.healthTimeoutMs",
    type: unlessZero,
    help: "How long a health check waits for etcd; 0 is the default.",
  },
  {
    name: "etcd-readycheck-timeout",
    option: "etcd.readyTimeoutMs",
    type: unlessZero,
    help: "How long a readiness check waits for etcd; 0 is the default.",
  },
  {
    name: "etcd-count-metric-poll-period",
    option: "objectCountPollMs",
    type: duration,
    default: 60_000,
    help: "How often the objects of each resource are counted for metrics, with any storage engine; 0 disables it.",
  },
  {
    name: "etcd-db-metric-poll-interval",
    option: "etcd.sizePollMs",
    type: duration,
    help: "How often the sizes of the databases of etcd's members are read for a hidden metric; 0 disables it.",
  },
  {
    name: "lease-reuse-duration-seconds",
    option: "etcd.leaseReuseSeconds",
    type: integer({ min: 0 }),
    help: "How long objects that expire, such as events, join a lease of etcd.",
  },
];

const directory = checked(text("dir"), (path) => {
  if (path === "") throw new FlagValueError("must name a directory");
});

const mediaTypes = ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"] as const;

/** Empty is JSON, as in upstream. */
const storageMediaType: FlagType<StorageMediaType> = {
  value: "type",
  ts: "StorageMediaType",
  choices: mediaTypes,
  read(text) {
    const found = mediaTypes.find((one) => one === (text || "application/json"));
    if (found === undefined)
      throw new FlagError(`--storage-media-type ${quoteGo(text)} invalid, allowed values: ${mediaTypes.join(", ")}`);
    return found;
  },
};

/** Seconds, as a duration. */
const wholeSeconds: FlagType<number> = {
  ...duration,
  read(text, before) {
    const seconds = Math.floor((duration.read(text, before) as number) / 1000);
    if (seconds < 1) throw new FlagValueError("must be at least 1s");
    return seconds;
  },
  format: (seconds) => duration.format?.(seconds * 1000) as string,
};

/** Sizes by the name of a resource with its group. */
const watchCacheSizes: FlagType<ReadonlyMap<string, number>> = {
  value: "resource#size,...",
  ts: "ReadonlyMap<string, number>",
  read: (sizes, before = new Map<string, number>()) =>
    new Map([...before, ...stringSlice(sizes).map(parseWatchCacheSize)]),
  format: () => "",
};

export const storageFlags: readonly Flag[] = [
  {
    name: "data-dir",
    option: "dataDir",
    type: directory,
    default: undefined,
    commandDefault: ".coxswain",
    help: "Directory of the embedded store, the generated certificates and the kubeconfig file; relative to the working directory.",
    inCode:
      "Directory of certificates, the kubeconfig and the store. Undefined, which `memory` alone allows: the server writes nothing to disk.",
    upstream: null,
  },
  {
    name: "storage",
    option: "storage",
    type: word("engine", ["lmdb", "memory", "etcd"]),
    default: "memory",
    commandDefault: "lmdb",
    help: "The storage engine: lmdb stores objects in --data-dir, memory discards them at exit, etcd stores them in --etcd-servers, and is the default if that is set.",
    inCode:
      "`memory` loses all objects when the server ends; `lmdb` keeps them under `dataDir`; `etcd` keeps them in the cluster of `etcd`, which several servers can share.",
    upstream: null,
  },
  {
    name: "storage-media-type",
    option: "storageMediaType",
    type: storageMediaType,
    default: "application/vnd.kubernetes.protobuf",
    help: "The encoding of built-in objects in a store that is shared with kube-apiserver: application/json, application/vnd.kubernetes.protobuf or application/yaml. Embedded stores keep JSON.",
    inCode: "How a store that is shared with kube-apiserver keeps built-in objects; embedded stores keep JSON.",
  },
  {
    name: "encryption-provider-config",
    option: "encryptionConfigFile",
    type: file,
    help: "YAML or JSON file with an EncryptionConfiguration, which names the resources whose objects are encrypted in the store, the providers and the keys.",
  },
  {
    name: "encryption-provider-config-automatic-reload",
    option: "reloadsEncryptionConfig",
    type: bool,
    help: "Use changes of --encryption-provider-config without a restart.",
    unset: "false",
  },
  {
    name: "durability",
    option: "durability",
    type: word("mode", ["full", "relaxed"]),
    default: "full",
    help: "full answers a write when its commit is on disk; relaxed when it is passed to the operating system, for tests.",
    inCode: "`full`: a write is answered when it is on disk. `relaxed`: when the operating system has it.",
    upstream: null,
  },
  {
    name: "history-window",
    option: "historyMs",
    type: duration,
    default: 5 * 60_000,
    help: "How long old revisions can be read and watched from; unlimited if only --etcd-compaction-interval is set.",
    inCode: "How long old resource versions can be read and watched from, in milliseconds.",
    upstream: null,
  },
  {
    name: "etcd-compaction-interval",
    option: "compactionIntervalMs",
    type: duration,
    default: undefined,
    help: "How often the store is compacted to the revision that was current one interval earlier; 0 disables it, so that only the other limits apply. 5m0s with etcd.",
    inCode:
      "Every so many milliseconds the store is compacted to the revision that was the newest at the time before. 0 or undefined: only `historyMs` and `historyBytesMax` apply.",
    unset: "5m0s",
  },
  {
    name: "history-bytes-max",
    option: "historyBytesMax",
    type: byteCount,
    default: 256 << 20,
    help: "Limit of the bytes of old revisions; above it the oldest are removed regardless of their age.",
    upstream: null,
  },
  {
    name: "event-ttl",
    option: "eventTtlSeconds",
    type: wholeSeconds,
    default: 3600,
    help: "Amount of time to retain events.",
    inCode: "How long objects of the kind `Event` live.",
  },
  {
    name: "watch-cache",
    option: "watchCache",
    type: bool,
    default: true,
    help: "If false, lists and watches are answered as kube-apiserver without a watch cache does: each list reads the current state, whatever its resourceVersion, and has the requested limit, and watches have no bookmarks.",
  },
  {
    name: "default-watch-cache-size",
    type: integer({ min: 0 }),
    help: "Accepted for compatibility with kube-apiserver, where it has no effect either.",
    default: "100",
    deprecated: "watch caches are sized automatically and this flag will be removed in a future version",
  },
  {
    name: "watch-cache-sizes",
    option: "watchCacheSizes",
    type: watchCacheSizes,
    default: new Map(),
    help: "A resource with the size 0, such as deployments.apps#0, is read as with --watch-cache=false, as Events are by default. Other sizes have no effect, except that Events are read from the cache then: caches are sized automatically.",
    inCode:
      "By name of the resource with its group, such as `deployments.apps`. 0: as with `watchCache` false, for this resource. Other sizes have no effect, except that Events, which are read so by default, get a cache.",
  },
];

/** @param text `resource[.group]#size` @throws FlagError */
function parseWatchCacheSize(text: string): [resource: string, size: number] {
  const [resource = "", size, ...rest] = text.split("#");
  if (size === undefined || rest.length > 0) throw new FlagError(`invalid value of watch cache size: ${text}`);
  if (!/^[+-]?\d+$/.test(size)) throw new FlagError(`invalid size of watch cache size: ${text}`);
  if (Number(size) < 0) throw new FlagError(`watch cache size cannot be negative: ${text}`);
  return [resource, Number(size)];
}

/** @throws FlagError with upstream's messages */
function parseOverride(text: string): EtcdOverride {
  const [target = "", servers, ...more] = text.split("#");
  const [group = "", resource, ...parts] = target.split("/");
  if (servers === undefined || more.length > 0 || resource === undefined || parts.length > 0)
    throw new FlagError(
      "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated",
    );
  return { group, resource, servers: servers.split(";") };
}

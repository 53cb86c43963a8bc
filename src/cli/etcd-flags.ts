/**
 * Flags of the engine etcd, with upstream's names, checks and messages. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/server/options/etcd.go`.
 */
import { type EtcdOverride, etcdDefaults } from "../storage/etcd/options.ts";
import { durationMs, FlagValueError, integerWithin, stringSlice } from "./flag-values.ts";
import type { Draft, Flag } from "./flags.ts";

/** Why flags of etcd have no effect with another engine. */
const embedded = "objects are stored in the embedded store, not in etcd; see --storage";

const atLeastZero = (text: string): number => integerWithin(text, { min: 0, max: Number.MAX_SAFE_INTEGER });

/** A flag that sets options of etcd. */
function etcdFlag(term: string, help: string, set: (text: string) => Draft["etcd"], shown?: string): Flag {
  const name = term.split(" ")[0] as string;
  return {
    term,
    help,
    ...(shown !== undefined && { shown }),
    set(text, draft) {
      Object.assign(draft.etcd, set(text));
      draft.etcdFlags.add(name);
    },
  };
}

export const etcdFlags: readonly Flag[] = [
  {
    ...etcdFlag("--etcd-servers <urls>", "", () => ({})),
    help: "URLs of etcd servers, separated by commas. Objects are stored there unless --storage names another engine.",
    set(text, { etcd, etcdFlags: used }) {
      etcd.servers = [...(etcd.servers ?? []), ...stringSlice(text)];
      used.add("--etcd-servers");
    },
  },
  {
    ...etcdFlag("--etcd-servers-overrides <overrides>", "", () => ({})),
    help: "Other etcd servers for some resources, separated by commas: group/resource#servers, where servers are URLs, separated by semicolons.",
    set(text, { etcd, etcdFlags: used }) {
      etcd.overrides = [...(etcd.overrides ?? []), ...stringSlice(text).map(overrideOf)];
      used.add("--etcd-servers-overrides");
    },
  },
  etcdFlag("--etcd-prefix <prefix>", "The prefix of all keys in etcd.", (prefix) => ({ prefix }), etcdDefaults.prefix),
  etcdFlag("--etcd-cafile <file>", "PEM file with the authorities of etcd servers.", (caFile) => ({ caFile })),
  etcdFlag("--etcd-certfile <file>", "PEM file with the client certificate for etcd.", (certFile) => ({ certFile })),
  etcdFlag("--etcd-keyfile <file>", "PEM file with the key of --etcd-certfile.", (keyFile) => ({ keyFile })),
  etcdFlag(
    "--etcd-healthcheck-timeout <duration>",
    "How long a health check waits for etcd; 0 is the default.",
    (text) => ({ healthTimeoutMs: durationMs(text) || etcdDefaults.healthTimeoutMs }),
    "2s",
  ),
  etcdFlag(
    "--etcd-readycheck-timeout <duration>",
    "How long a readiness check waits for etcd; 0 is the default.",
    (text) => ({ readyTimeoutMs: durationMs(text) || etcdDefaults.readyTimeoutMs }),
    "2s",
  ),
  {
    term: "--etcd-count-metric-poll-period <duration>",
    help: "How often the objects of each resource are counted for metrics, with any storage engine; 0 disables it.",
    shown: "1m0s",
    set(text, { server }) {
      server.objectCountPollMs = durationMs(text);
    },
  },
  etcdFlag(
    "--etcd-db-metric-poll-interval <duration>",
    "How often the sizes of the databases of etcd's members are read for a hidden metric; 0 disables it.",
    (text) => ({ sizePollMs: durationMs(text) }),
    "30s",
  ),
  etcdFlag(
    "--lease-reuse-duration-seconds <int>",
    "How long objects that expire, such as events, join a lease of etcd.",
    (text) => ({ leaseReuseSeconds: atLeastZero(text) }),
    "60",
  ),
];

/** @throws FlagValueError with upstream's messages */
function overrideOf(text: string): EtcdOverride {
  const invalid = (): FlagValueError =>
    new FlagValueError(
      "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated",
    );
  const [target = "", servers, ...more] = text.split("#");
  const [group, resource, ...parts] = target.split("/");
  if (servers === undefined || more.length > 0 || resource === undefined || parts.length > 0) throw invalid();
  return { group: group as string, resource, servers: servers.split(";") };
}

/** The warning for flags of etcd that another engine ignores; undefined without any. */
export function ignoredEtcdFlags(used: ReadonlySet<string>): string | undefined {
  return used.size === 0 ? undefined : `Ignored flags: ${[...used].join(", ")}: ${embedded}`;
}

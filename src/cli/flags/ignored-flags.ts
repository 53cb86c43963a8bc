/**
 * Flags of kube-apiserver that this server does not implement. They are parsed and validated as
 * upstream does, so that manifests and scripts for kube-apiserver work. Flags that must not be
 * ignored are rejected.
 */
import { type Flag, type FlagType, FlagValueError } from "./contract.ts";
import { bool, checked, duration, integer, text, validated } from "./flag-types.ts";

/** A flag without effect. @param upstream its default */
function ignored(name: string, type: FlagType<unknown>, upstream?: string): Flag {
  return { name, type, help: "Without effect.", hidden: true, ...(upstream !== undefined && { upstream }) };
}

interface Unsupported<T> {
  readonly name: string;
  readonly type: FlagType<T>;
  /** The error message. */
  readonly why: string;
  /** The default of kube-apiserver. */
  readonly upstream?: string;
  /** The value that requests what this server does anyway; by default what is empty, false or 0. */
  readonly harmless?: T;
}

/** A flag that is rejected. */
function unsupported<T>({ type, why, harmless, ...rest }: Unsupported<T>): Flag {
  const isHarmless = (value: T): boolean => (harmless === undefined ? !value : value === harmless);
  return {
    ...rest,
    type: checked(type, (value) => {
      if (!isHarmless(value)) throw new FlagValueError(why);
    }),
    help: `Not supported: ${why}. Values that request nothing else are accepted.`,
    hidden: true,
  };
}

const storageBackend = validated(text("name"), (name) =>
  name === "" || name === "etcd3"
    ? undefined
    : "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'",
);

export const ignoredFlags: readonly Flag[] = [
  ignored("storage-backend", storageBackend),
  ignored("delete-collection-workers", integer(), "1"),
  ignored("kubelet-timeout", duration, "5s"), // Without effect in upstream, too.
  ignored("contention-profiling", bool, "false"), // Node.js has no profiles of waits for locks.
  {
    ...unsupported({
      name: "enable-logs-handler",
      type: bool,
      why: "the server does not show files of /var/log to clients",
      upstream: "false",
    }),
    deprecated: "Log handler functionality is deprecated",
  },
];

/** What flags configure together. */
import { join } from "node:path";
import { type Flag, FlagError, type FlagOptions, type OptionPath, type Settings } from "./contract.ts";
import { flagDefaults } from "./defaults.ts";
import { logProblem } from "./log-flags.ts";
import { withValue } from "./option-path.ts";

/** The options that flags have set, in the order of their first flag. */
export type GivenOptions = ReadonlyMap<OptionPath, { readonly flag: Flag; readonly value: unknown }>;

/** @returns the defaults, with what flags have set */
export function optionsOf(given: GivenOptions): FlagOptions {
  return [...given].reduce((options, [path, { value }]) => withValue(options, path, value), flagDefaults);
}

/**
 * Checks combinations, and fills defaults that depend on other flags.
 *
 * @param deprecations warnings about deprecated flags
 * @throws FlagError
 */
export function settingsOf(given: GivenOptions, deprecations: readonly string[]): Omit<Settings, "flags"> {
  const { command, ...options } = optionsOf(given);
  checkCombination(options, command);
  const { etcd, ...stored } = withStorage(options, given);
  const usesEtcd = stored.storage === "etcd";
  const dataDir =
    given.has("dataDir") || options.certDir === undefined ? options.dataDir : join(options.certDir, "coxswain");
  return {
    server: { ...stored, dataDir, ...(usesEtcd && { etcd }) },
    command,
    warnings: [
      ...(command.suppressDeprecationWarnings ? [] : deprecations),
      ...(usesEtcd ? [] : ignoredEtcdFlags(given)),
    ],
  };
}

function checkCombination(server: Settings["server"], command: Settings["command"]): void {
  const problem = logProblem({ server, command });
  if (problem !== undefined) throw new FlagError(problem);
  if ((server.tlsCertFile === undefined) !== (server.tlsPrivateKeyFile === undefined))
    throw new FlagError("missing filename for serving cert");
  if (server.reloadsEncryptionConfig && server.encryptionConfigFile === undefined)
    throw new FlagError("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config");
  if (command.virtualClock && !command.testControl) throw new FlagError("--virtual-clock needs --enable-test-control");
}

/** The default of kube-apiserver. */
const etcdCompactionIntervalMs = 5 * 60_000;

/** Chooses the engine, and how long history is kept. @throws FlagError */
function withStorage(server: Settings["server"], given: GivenOptions): Settings["server"] {
  const isEtcd = given.has("storage") ? server.storage === "etcd" : given.has("etcd.servers");
  if (isEtcd) checkEtcd(server, given);
  const compactionIntervalMs = server.compactionIntervalMs ?? (isEtcd ? etcdCompactionIntervalMs : undefined);
  const isUnlimited = compactionIntervalMs !== undefined && !given.has("historyMs");
  return {
    ...server,
    ...(isEtcd && { storage: "etcd" }),
    compactionIntervalMs,
    historyMs: isUnlimited ? Number.POSITIVE_INFINITY : server.historyMs,
  };
}

function checkEtcd({ etcd }: Settings["server"], given: GivenOptions): void {
  if (!given.has("etcd.servers")) throw new FlagError("--etcd-servers must be specified");
  const { certFile = "", keyFile = "" } = etcd ?? {};
  if ((certFile === "") !== (keyFile === ""))
    throw new FlagError(
      `error creating storage factory: KeyFile and CertFile must both be present[key: ${keyFile}, cert: ${certFile}]`,
    );
}

/** The warning for flags of etcd that another engine ignores. */
function ignoredEtcdFlags(given: GivenOptions): string[] {
  const names = [...given].filter(([path]) => path.startsWith("etcd.")).map(([, { flag }]) => `--${flag.name}`);
  if (names.length === 0) return [];
  return [`Ignored flags: ${names.join(", ")}: objects are stored in the embedded store, not in etcd; see --storage`];
}

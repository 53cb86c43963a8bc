/** The options without any flag. */
import { defaultOptions } from "../../server/default-options.ts";
import { etcdDefaults } from "../../storage/etcd/options.ts";
import type { Flag, FlagOptions } from "./contract.ts";
import { flagGroups } from "./flag-groups.ts";
import { valueAt, withValue } from "./option-path.ts";

const { clock: _clock, ...libraryDefaults } = defaultOptions;

/** Those of the library, and of options that only flags have. */
const ofGroups: FlagOptions = {
  ...libraryDefaults,
  etcd: { ...etcdDefaults, servers: [] },
  verbosity: { level: 0, modules: [] },
  command: {
    testControl: false,
    virtualClock: false,
    log: {
      format: "text",
      flushMs: 5_000,
      text: { splitStream: false, infoBufferSize: 0 },
      json: { splitStream: false, infoBufferSize: 0 },
    },
    color: "auto",
    suppressDeprecationWarnings: false,
  },
};

/** With the rows whose flags have another default than their option: objects are kept on disk, the port is always the same. */
export const flagDefaults: FlagOptions = flagGroups
  .flatMap(([, flags]) => flags)
  .reduce(
    (options, { option, commandDefault }) =>
      commandDefault === undefined ? options : withValue(options, option, commandDefault),
    ofGroups,
  );

/** @returns the default of a flag as a value of it; undefined without one */
export function defaultOf(flag: Flag): string | undefined {
  if (flag.option === undefined) return flag.default;
  const value = valueAt(flagDefaults, flag.option);
  if (value === undefined) return undefined;
  const { format = String }: { format?(value: never): string } = flag.type;
  return format(value as never) || undefined;
}

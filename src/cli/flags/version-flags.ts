/** Flags of the releases whose behavior a server has, which the server checks. */
import { emulatedMinorMin, formatRelease } from "../../apimachinery/effective-version.ts";
import type { Flag, FlagType } from "./contract.ts";
import { bool, stringSlice } from "./flag-types.ts";

/** Versions of components, separated by commas; further flags extend the list. */
const versions: FlagType<string> = {
  value: "versions",
  read: (text, before) => [...(before === undefined ? [] : [before]), ...stringSlice(text)].join(",") || undefined,
};

const oldest = formatRelease(emulatedMinorMin);

export const versionFlags: readonly Flag[] = [
  {
    name: "emulated-version",
    option: "emulatedVersion",
    type: versions,
    help: `The release of Kubernetes whose feature gates, resources, defaults and messages the server has, such as 1.34 or kube=1.34; from ${oldest} to that of the server, which is the default.`,
  },
  {
    name: "min-compatibility-version",
    option: "minCompatibilityVersion",
    type: versions,
    help: `The oldest release of the servers that share the store, such as 1.34: objects are stored at versions that it has, and new CEL expressions use functions that it has. From ${oldest} to the emulated version; by default the release before that.`,
  },
  {
    name: "emulation-forward-compatible",
    option: "emulationForwardCompatible",
    type: bool,
    help: "With a lower --emulated-version, also serve later versions of resources of which a beta or stable version is served.",
  },
  {
    name: "runtime-config-emulation-forward-compatible",
    option: "runtimeConfigEmulationForwardCompatible",
    type: bool,
    help: "With a lower --emulated-version, let --runtime-config enable versions and resources that it does not have. Otherwise they are an error.",
  },
];

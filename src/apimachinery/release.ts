/** The release of the API. Source: version.Info of k8s.io/apimachinery@v0.36.0. */
import { binaryMinor, defaultVersion, type EffectiveVersion } from "./effective-version.ts";

/** The release whose API is served. */
export const apiRelease = { major: "1", minor: `${binaryMinor}`, gitVersion: `v1.${binaryMinor}.0+coxswain` } as const;

/** The body of `/version`, in upstream's order of fields. */
export function versionBody({ emulated, minCompatible }: EffectiveVersion = defaultVersion): Record<string, string> {
  return {
    major: apiRelease.major,
    minor: apiRelease.minor,
    emulationMajor: apiRelease.major,
    emulationMinor: String(emulated),
    minCompatibilityMajor: apiRelease.major,
    minCompatibilityMinor: String(minCompatible),
    gitVersion: apiRelease.gitVersion,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    // Clients parse these two in the format of a Go server.
    goVersion: `node${process.version}`,
    compiler: "node",
    platform: `${platform()}/${architecture()}`,
  };
}

function platform(): string {
  return process.platform === "win32" ? "windows" : process.platform;
}

/** The architecture as Go names it. */
function architecture(): string {
  const names: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };
  return names[process.arch] ?? process.arch;
}

/** The release of the API. Source: version.Info of k8s.io/apimachinery@v0.36.0. */

/** The release whose API is served. */
export const apiRelease = { major: "1", minor: "36", gitVersion: "v1.36.0+coxswain" } as const;

/** The body of `/version`, in upstream's order of fields. */
export function versionBody(): Record<string, string> {
  return {
    major: apiRelease.major,
    minor: apiRelease.minor,
    emulationMajor: apiRelease.major,
    emulationMinor: apiRelease.minor,
    minCompatibilityMajor: "1",
    minCompatibilityMinor: "35",
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

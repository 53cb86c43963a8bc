/** `/version`: which release of the API this is. kubectl compares it with its own. */
import { methodNotAllowed } from "../../apimachinery/errors.ts";
import type { RequestContext } from "../contract.ts";
import { sendRawJson } from "../respond.ts";

/** The release whose API is served. */
export const apiRelease = { major: "1", minor: "36", gitVersion: "v1.36.0+coxswain" } as const;

/** @throws ApiError 405 */
export function versionHandler(context: RequestContext): void {
  if (context.exchange.method !== "GET") throw methodNotAllowed();
  sendRawJson(context, 200, versionBody());
}

/** Source: apimachinery's version.Info; the order of fields is upstream's. */
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
    // Clients parse these two as what a Go server reports.
    goVersion: `node${process.version}`,
    compiler: "node",
    platform: `${platform()}/${architecture()}`,
  };
}

function platform(): string {
  return process.platform === "win32" ? "windows" : process.platform;
}

/** Under Go's names. */
function architecture(): string {
  const names: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };
  return names[process.arch] ?? process.arch;
}

/** Builds upstream's programs. */
import { join } from "node:path";
import {
  builtProgram,
  type UpstreamProgram,
  upstreamDirectory,
  upstreamVersion,
} from "../../test/support/upstream-programs.ts";
import { runGo, writeModule } from "./module.ts";

/** Builds a program; minutes for the first, seconds when Go has built it before. @throws Error when Go fails */
export function buildProgram(name: UpstreamProgram): void {
  const directory = join(upstreamDirectory, "programs");
  writeModule(directory);
  runGo(directory, [...commandOf(name), "-o", builtProgram(name), packageOf(name)]);
}

/** The programs report the version that their release has. */
function commandOf(name: UpstreamProgram): readonly string[] {
  if (name === "e2e.test") return ["test", "-c", "-vet=off"];
  const [major, minor] = upstreamVersion.slice(1).split(".");
  const values = { gitVersion: upstreamVersion, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ["build", "-ldflags", flags.join(" ")];
}

function packageOf(name: UpstreamProgram): string {
  return `k8s.io/kubernetes/${name === "e2e.test" ? "test/e2e" : `cmd/${name}`}`;
}

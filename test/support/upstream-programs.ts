/** Upstream's own programs, which `npm run upstream -- build` builds from Go modules. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { reasonOf, skipWithout } from "./needs.ts";

/** The release of Kubernetes whose programs and tests are the judges. */
export const upstreamVersion = "v1.36.0";

/** Of everything that is built from upstream. COXSWAIN_UPSTREAM replaces it. */
export const upstreamDirectory: string =
  process.env.COXSWAIN_UPSTREAM ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "coxswain-upstream", upstreamVersion);

/** The environment variable that names a program of another build. */
const variables = {
  "kube-apiserver": "COXSWAIN_KUBE_APISERVER",
  "kube-controller-manager": "COXSWAIN_KUBE_CONTROLLER_MANAGER",
  "kube-scheduler": "COXSWAIN_KUBE_SCHEDULER",
  "e2e.test": "COXSWAIN_E2E_TEST",
} as const;

/** The name of a program that can be built. */
export type UpstreamProgram = keyof typeof variables;

/** All that can be built. */
export const upstreamPrograms = Object.keys(variables) as UpstreamProgram[];

/** Where the build writes the program. */
export function builtProgram(name: UpstreamProgram): string {
  return join(upstreamDirectory, "bin", name);
}

/** @returns the path of the program; undefined when it is not built */
export function findUpstreamProgram(name: UpstreamProgram): string | undefined {
  const built = builtProgram(name);
  return process.env[variables[name]] ?? (existsSync(built) ? built : undefined);
}

/** @throws Error that names the command which builds it */
export function getUpstreamProgram(name: UpstreamProgram): string {
  const found = findUpstreamProgram(name);
  if (found === undefined) throw new Error(`there is no ${name}: \`${buildCommand(name)}\` builds it`);
  return found;
}

/** Why tests that need the programs are skipped; false when they are not. They run in the full size only, as the programs cost seconds. */
export function skipWithoutUpstream(...names: readonly UpstreamProgram[]): string | false {
  const missing = names.find((name) => findUpstreamProgram(name) === undefined);
  if (missing !== undefined) return reasonOf(`${missing} 1.36`, buildCommand(missing));
  return skipWithout("full");
}

function buildCommand(name: UpstreamProgram): string {
  return `npm run upstream -- build ${name}`;
}

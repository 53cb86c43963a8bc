/** Checks the limits of the process, and the port. */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { arch, platform } from "node:os";
import { describeError } from "../describe-error.ts";
import { type DoctorOptions, type Finding, ok, problem, type Surroundings, warning } from "./contract.ts";

/** A server with many watches and connections needs more than the usual soft limit of old systems. */
const filesMin = 1024;

/** The runtime is new enough: older ones end before any command runs. */
export function checkRuntime({ versions, filesMax }: Pick<Surroundings, "versions" | "filesMax">): Finding[] {
  const name = ["bun", "deno", "node"].find((one) => versions[one] !== undefined) ?? "node";
  const runtime = ok("runtime", `${name} ${versions[name]} on ${platform()}/${arch()}`);
  if (filesMax === undefined) return [runtime];
  const message = `a process may open ${filesMax} files`;
  const isLow = filesMax < filesMin;
  return [
    runtime,
    isLow ? warning("open files", message, `ulimit -n ${filesMin}, or more`) : ok("open files", message),
  ];
}

/** The number of files that this process may open, on Linux. Source: proc(5) */
export function openFilesMax(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // Another system.
  }
}

/**
 * Listens on the port for a moment.
 *
 * @param isOwn whether the server of the kubeconfig answers there
 */
export async function checkPort(
  { bindAddress, securePort }: Pick<DoctorOptions, "bindAddress" | "securePort">,
  isOwn: boolean,
): Promise<Finding> {
  const check = `port ${securePort}`;
  if (isOwn) return ok(check, "the server of the kubeconfig listens there already");
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(securePort, bindAddress, resolve);
    });
    return ok(check, `is free on ${bindAddress}`);
  } catch (error) {
    const [message = "", advice = ""] = describeError(error).split(/: (?=choose )/);
    return problem(check, message, advice);
  } finally {
    server.close();
  }
}

/** Runs all checks of `coxswain doctor`. */
import { checkDirectory, checkDisk } from "./check-directory.ts";
import { checkPort, checkRuntime } from "./check-process.ts";
import { checkClock, checkServer } from "./check-server.ts";
import type { DoctorOptions, Finding, Surroundings } from "./contract.ts";

/** @returns the findings in the order of the output */
export async function runChecks(options: DoctorOptions, surroundings: Surroundings): Promise<Finding[]> {
  const server = await checkServer(options, surroundings);
  const isOwn = server.answersAt?.endsWith(`:${options.securePort}`) === true && isLoopback(server.answersAt);
  return [
    ...checkRuntime(surroundings),
    await checkPort(options, isOwn),
    ...checkDirectory(options),
    ...checkDisk(options),
    checkClock(server.times, surroundings.now()),
    ...(await etcdFindings(options)),
    ...server.findings,
  ];
}

const isLoopback = (host: string): boolean => /^(?:127\.|localhost:|\[::1\])/.test(host);

/** The client of etcd is loaded only for members. */
async function etcdFindings(options: DoctorOptions): Promise<Finding[]> {
  return options.etcdServers.length === 0 ? [] : (await import("./check-etcd.ts")).checkEtcd(options);
}

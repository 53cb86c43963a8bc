/**
 * `npm run bench -- --upstream`: the CPU time of the built package for each kind of request, and that of kube-apiserver with its
 * etcd for the same requests in the same run. On Linux, after `npm run etcd` and `npm run upstream -- build kube-apiserver`.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { startEtcd } from "../test/support/etcd.ts";
import { startKubeApiserver } from "../test/support/kube-apiserver.ts";
import { targetOfKubeconfig } from "./client.ts";
import { type Costs, costsInTurns, type Subject, startBuilt } from "./cost-lines.ts";

/** Prints a row for each kind of request. @param objects the size of the collection */
export async function upstreamBench(objects: number): Promise<void> {
  execFileSync(process.execPath, [join(import.meta.dirname, "../tools/build.ts")]); // An older build would be measured.
  const subjects = [await startBuilt(join(import.meta.dirname, "../dist/main.js")), await startUpstream()];
  const [ours, theirs] = (await costsInTurns(subjects, objects)) as [Costs, Costs];
  console.log(
    `${"ms of CPU time".padEnd(44)} ${"coxswain".padStart(9)} ${"upstream".padStart(9)} ${"ahead".padStart(7)}`,
  );
  for (const [row, cost] of ours) {
    const other = theirs.get(row) as number;
    console.log(
      `${row.padEnd(44)} ${cost.toPrecision(3).padStart(9)} ${other.toPrecision(3).padStart(9)} ${(other / cost).toFixed(1).padStart(6)}×`,
    );
  }
}

/** A kube-apiserver and the etcd of its own, which writes to the disk as in production. */
export async function startUpstream(): Promise<Subject & { readonly kubeconfig: string }> {
  const durable = ["--unsafe-no-fsync=false", "--heartbeat-interval=100", "--election-timeout=1000"];
  const etcd = await startEtcd({ flags: durable });
  const server = await startKubeApiserver({ etcd: etcd.urls });
  return {
    kubeconfig: server.kubeconfig,
    target: targetOfKubeconfig(server.kubeconfig),
    pids: [server.pid, ...etcd.members.map(({ pid }) => pid)],
    async close() {
      await server.close();
      await etcd.close();
    },
  };
}

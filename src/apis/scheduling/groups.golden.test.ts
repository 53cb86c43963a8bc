/** What kube-apiserver answers to writes of workloads and groups of pods, with all their gates on, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

const gates = [
  "GenericWorkload",
  "WorkloadAwarePreemption",
  "TopologyAwareWorkloadScheduling",
  "DRAWorkloadResourceClaims",
  "GangScheduling",
];
const featureGates = gates.map((gate) => `${gate}=true`).join();
for (const kind of ["workloads", "pod-groups"]) {
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`, {
    allVersionsOf: ["scheduling.k8s.io"],
    featureGates,
  });
}

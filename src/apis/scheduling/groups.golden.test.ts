/**
 * Compares the answers to writes of Workloads and PodGroups, with all their gates on, with those of
 * kube-apiserver.
 */
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

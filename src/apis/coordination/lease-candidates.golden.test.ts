/** What kube-apiserver answers to writes of candidates for leases, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/lease-candidates.json.gz`, {
  allVersionsOf: ["coordination.k8s.io"],
  featureGates: "CoordinatedLeaderElection=true",
});

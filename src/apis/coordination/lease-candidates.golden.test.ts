/** Compares the answers to writes of lease candidates with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/lease-candidates.json.gz`, {
  allVersionsOf: ["coordination.k8s.io"],
  featureGates: "CoordinatedLeaderElection=true",
});

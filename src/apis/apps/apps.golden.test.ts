/** Replays writes of workloads against the answers of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["controller-revisions", "daemon-sets", "deployments", "replica-sets", "stateful-sets"])
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);
replayWrites(`${import.meta.dirname}/testdata/gated-stateful-sets.json.gz`, {
  featureGates: "MaxUnavailableStatefulSet=true",
});

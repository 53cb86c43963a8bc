/** What kube-apiserver answers to writes of workloads, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["controller-revisions", "daemon-sets", "deployments", "replica-sets", "stateful-sets"])
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);
replayWrites(`${import.meta.dirname}/testdata/gated-stateful-sets.json.gz`, {
  featureGates: "MaxUnavailableStatefulSet=true",
});

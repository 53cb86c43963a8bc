/** Replays writes of pods and pod templates that were recorded from kube-apiserver. */
import { replayWrites } from "../../../../test/support/memory-writes.ts";

for (const name of ["pods-create", "pods-update", "pods-status", "templates"])
  replayWrites(`${import.meta.dirname}/testdata/${name}.json.gz`);

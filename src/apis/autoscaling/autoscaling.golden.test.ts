/** What kube-apiserver answers to writes of autoscalers at both versions, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["horizontal-pod-autoscalers", "horizontal-pod-autoscalers-v1"])
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);

/** Replays writes of autoscalers at both versions against the answers of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["horizontal-pod-autoscalers", "horizontal-pod-autoscalers-v1"])
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);

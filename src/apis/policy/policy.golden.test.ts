/** Compares the answers to writes of disruption budgets with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/pod-disruption-budgets.json.gz`);

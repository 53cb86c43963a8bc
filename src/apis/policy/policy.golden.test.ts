/** What kube-apiserver answers to writes of disruption budgets, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/pod-disruption-budgets.json.gz`);

/** Compares the answers to writes of endpoint slices with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/endpoint-slices.json.gz`);

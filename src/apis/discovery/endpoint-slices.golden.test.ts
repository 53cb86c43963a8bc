/** What kube-apiserver answers to writes of endpoint slices, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/endpoint-slices.json.gz`);

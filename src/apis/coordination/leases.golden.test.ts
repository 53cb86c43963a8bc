/** What kube-apiserver answers to writes of leases, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/leases.json.gz`);

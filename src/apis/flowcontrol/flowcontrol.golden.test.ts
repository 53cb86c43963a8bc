/** What kube-apiserver answers to writes of flow schemas and priority levels, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["flow-schemas", "priority-levels"]) replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);

/**
 * Compares the answers to writes of flow schemas and priority levels with those of kube-apiserver.
 */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["flow-schemas", "priority-levels"]) replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);

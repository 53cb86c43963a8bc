/** Compares the answers to writes of priority classes with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/priority-classes.json.gz`);

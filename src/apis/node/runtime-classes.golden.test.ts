/** Compares the answers to writes of runtime classes with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/runtime-classes.json.gz`);

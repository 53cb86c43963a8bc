/** What kube-apiserver answers to writes of runtime classes, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/runtime-classes.json.gz`);

/** What kube-apiserver answers to writes of priority classes, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/priority-classes.json.gz`);

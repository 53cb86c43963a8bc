/** What kube-apiserver answers to writes of pods and their templates, and what we do. */
import { replayWrites } from "../../../../test/support/memory-writes.ts";

for (const name of ["pods-create", "pods-update", "pods-status", "templates"])
  replayWrites(`${import.meta.dirname}/testdata/${name}.json.gz`);

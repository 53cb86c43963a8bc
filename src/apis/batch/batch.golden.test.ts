/** What kube-apiserver answers to writes of jobs, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["cron-jobs", "jobs"]) replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);

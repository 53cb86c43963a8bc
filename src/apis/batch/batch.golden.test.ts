/** Replays writes of Jobs and CronJobs against the answers of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["cron-jobs", "jobs"]) replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);

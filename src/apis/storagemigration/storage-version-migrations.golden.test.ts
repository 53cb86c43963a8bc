/** What kube-apiserver answers to writes of migrations, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/storage-version-migrations.json.gz`, {
  allVersionsOf: ["storagemigration.k8s.io"],
});

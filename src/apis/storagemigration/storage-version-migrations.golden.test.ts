/** Compares the answers to writes of storage version migrations with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/storage-version-migrations.json.gz`, {
  allVersionsOf: ["storagemigration.k8s.io"],
});

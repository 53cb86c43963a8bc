/** Compares the answers to writes of storage versions with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/storage-versions.json.gz`, {
  allVersionsOf: ["internal.apiserver.k8s.io"],
});

/** What kube-apiserver answers to writes of storage versions, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/storage-versions.json.gz`, {
  allVersionsOf: ["internal.apiserver.k8s.io"],
});

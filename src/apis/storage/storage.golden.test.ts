/** Compares the answers to writes of storage kinds with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

const kinds = [
  "csi-drivers",
  "csi-nodes",
  "csi-storage-capacities",
  "storage-classes",
  "volume-attachments",
  "volume-attributes-classes",
];
for (const kind of kinds) replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);

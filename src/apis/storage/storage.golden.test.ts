/** What kube-apiserver answers to writes of the storage kinds, and what we do. */
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

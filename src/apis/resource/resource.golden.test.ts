/** Replays writes of claims, device classes and slices against the answers of kube-apiserver. */
import { readdirSync } from "node:fs";
import { replayWrites } from "../../../test/support/memory-writes.ts";
import { defaultVersion } from "../../apimachinery/effective-version.ts";
import { deviceChecker } from "../../cel-environment/device-checker.ts";
import { strategiesWith } from "../index.ts";

const directory = `${import.meta.dirname}/testdata`;
const strategies = strategiesWith({
  eventTtlSeconds: 3600,
  loadSelectorChecker: async () => deviceChecker(defaultVersion.minCompatible),
});

/** Feature gates of the files `gated-…`; the others need at most the gate of taint rules. */
const gated =
  "DRAListTypeAttributes=true,DRANodeAllocatableResources=true,DRADeviceTaints=true,DRAResourcePoolStatus=true";

for (const file of readdirSync(directory)) {
  const featureGates = file.startsWith("gated-") ? gated : "DRADeviceTaintRules=true";
  replayWrites(`${directory}/${file}`, { strategies, allVersionsOf: ["resource.k8s.io"], featureGates });
}

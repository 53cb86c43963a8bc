/** What kube-apiserver answers to writes of claims, classes and slices of devices, and what we do. */
import { readdirSync } from "node:fs";
import { deviceChecker } from "../../cel-environment/device-checker.ts";
import { replayWrites } from "../../testing/memory-writes.ts";
import { strategiesWith } from "../index.ts";

const directory = `${import.meta.dirname}/testdata`;
const strategies = strategiesWith({ eventTtlSeconds: 3600, loadSelectorChecker: async () => deviceChecker });

const options = { strategies, allVersionsOf: ["resource.k8s.io"], featureGates: "DRADeviceTaintRules=true" };

for (const file of readdirSync(directory)) replayWrites(`${directory}/${file}`, options);

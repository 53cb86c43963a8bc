/** Replays writes of webhook configurations and policies against the answers of kube-apiserver. */
import { readdirSync } from "node:fs";
import { replayWrites } from "../../../test/support/memory-writes.ts";
import { defaultVersion } from "../../apimachinery/effective-version.ts";
import { policyChecker } from "../../cel-environment/policy-checker.ts";
import { strategiesWith } from "../index.ts";

const directory = `${import.meta.dirname}/testdata`;
const strategies = strategiesWith({
  eventTtlSeconds: 3600,
  loadExpressionChecker: async () => policyChecker(defaultVersion.minCompatible),
});

for (const file of readdirSync(directory)) replayWrites(`${directory}/${file}`, { strategies });

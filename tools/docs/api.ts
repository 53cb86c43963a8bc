/** `npm run api`: writes the reports of the public API in api/, which show its changes in review. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rollUpTypes } from "./public-api.ts";

const types = mkdtempSync(join(tmpdir(), "coxswain-types-"));
try {
  const { problems, changedReports } = rollUpTypes(types, "update");
  for (const file of changedReports) console.log(`Wrote ${file}`);
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    process.exitCode = 1;
  }
} finally {
  rmSync(types, { recursive: true, force: true });
}

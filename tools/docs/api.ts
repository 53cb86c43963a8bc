/** `npm run api`: writes the reports of the public API in api/, which show its changes in review, and the API reference. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { rollUpTypes, root } from "./public-api.ts";
import { apiReference } from "./reference.ts";

new Command("npm run api")
  .description("Writes the reports of the public API in api/, and the API reference in docs/reference/api.")
  .parse();

const work = mkdtempSync(join(tmpdir(), "coxswain-api-"));
try {
  for (const folder of ["types", "reference"]) mkdirSync(join(work, folder));
  const { problems, changedReports } = rollUpTypes(join(work, "types"), "update");
  for (const file of changedReports) console.log(`Wrote ${file}`);
  writeReference();
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    process.exitCode = 1;
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function writeReference(): void {
  const folder = join(root, "docs/reference/api");
  rmSync(folder, { recursive: true, force: true });
  for (const [file, text] of apiReference(join(work, "types"), join(work, "reference"))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

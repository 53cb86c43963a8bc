/** The pages in docs/reference that are written from the code. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandsPage } from "./commands-page.ts";
import { exitCodesPage } from "./exit-codes-page.ts";
import { flagsPage } from "./flags-page.ts";
import { gatesPage } from "./gates-page.ts";
import { metricsPage } from "./metrics-page.ts";

/** The pages by the name of their file. */
export async function referencePages(): Promise<Record<string, string>> {
  return {
    "commands.md": await commandsPage(),
    "exit-codes.md": await exitCodesPage(),
    "feature-gates.md": gatesPage(),
    "flags.md": flagsPage(),
    "metrics.md": metricsPage(),
  };
}

/** Writes the pages into a directory. */
export async function writeReference(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(await referencePages())) writeFileSync(join(directory, name), text);
}

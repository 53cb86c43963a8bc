/** `npm run generate`: writes the tables in src/apimachinery/data, the options of flags, and the pages in docs/reference that the code describes. */

import { join } from "node:path";
import { Command } from "commander";
import { writeOptions } from "./options.ts";
import { writeReference } from "./reference/write.ts";
import { generateTables } from "./tables.ts";

const root = join(import.meta.dirname, "../..");
new Command("npm run generate")
  .description(
    "Writes the tables in src/apimachinery/data, the options of flags, and the pages in docs/reference that the code describes.",
  )
  .parse();
process.stdout.isTTY = false; // The width of a terminal would change the help of commands.
generateTables(join(root, "src/apimachinery/data"));
writeOptions(join(root, "src/server"));
await writeReference(join(root, "docs/reference"));

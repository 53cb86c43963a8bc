/** `npm run generate`: writes the tables in src/data. */
import { join } from "node:path";
import { generateTables } from "./tables.ts";

generateTables(join(import.meta.dirname, "../../src/data"));

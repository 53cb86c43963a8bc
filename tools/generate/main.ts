/** `npm run generate`: writes the tables in src/data from the facts in data/, one module for each table. */
import { join } from "node:path";
import { generateGates } from "./gates.ts";
import { generateResources } from "./resources.ts";
import { generateTypes } from "./types.ts";

const factsDir = join(import.meta.dirname, "data");
const dataDir = join(import.meta.dirname, "../../src/data");
for (const generate of [generateTypes, generateResources, generateGates]) generate(factsDir, dataDir);

/** The conformance tests that need no container, and those of them that fail. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Exception } from "../exceptions.ts";

interface List {
  /** Names of the tests that need an API server, controllers and Node objects alone. */
  readonly withoutContainers: readonly string[];
  readonly exceptions: readonly Exception[];
}

export function readList(): List {
  return JSON.parse(readFileSync(join(import.meta.dirname, "tests.json"), "utf8"));
}

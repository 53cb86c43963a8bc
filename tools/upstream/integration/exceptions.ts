/** The failing integration tests that are known, by package. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Exception } from "../exceptions.ts";

export function readExceptions(): Readonly<Record<string, readonly Exception[]>> {
  return JSON.parse(readFileSync(join(import.meta.dirname, "exceptions.json"), "utf8"));
}

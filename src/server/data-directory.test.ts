import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../apimachinery/logger.ts";
import { startServer } from "./start-server.ts";

const rows: [mode: number, warned: string[]][] = [
  [0o700, []],
  [0o775, []],
  [0o777, ["0777"]],
  [0o1777, ["1777"]],
  [0o702, ["0702"]],
];

for (const [mode, warned] of rows) {
  const does = warned.length > 0 ? "warns of" : "accepts";
  test(`a start ${does} a data directory of mode ${mode.toString(8)}`, {
    skip: process.platform === "win32",
  }, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "coxswain-writable-"));
    chmodSync(dataDir, mode);
    const modes: unknown[] = [];
    const logger = {
      ...silentLogger,
      warn: (message: string, values?: Record<string, unknown>) =>
        /All users of this machine can write/.test(message) && modes.push(values?.mode),
    };
    const server = await startServer({ dataDir, storage: "memory", securePort: 0, logger });
    await server.close();
    rmSync(dataDir, { recursive: true });
    assert.deepEqual(modes, warned);
  });
}

/**
 * Builds the etcd server of the Go module in this folder into `.etcd/`, for tests and benchmarks. Go
 * downloads the module; a later call takes a second.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Command } from "commander";

const root = join(import.meta.dirname, "..", "..");

new Command("npm run etcd")
  .description("Builds etcd into .etcd/, for tests and benchmarks. Needs Go, which downloads the module.")
  .parse();

const { status, error } = spawnSync("go", ["build", "-o", join(root, ".etcd", "etcd"), "."], {
  cwd: import.meta.dirname,
  stdio: ["ignore", 2, 2],
});
if (error !== undefined) {
  process.stderr.write(`Cannot run Go, which builds etcd: ${error.message}\n`);
  process.exit(1);
}
process.exit(status ?? 1);

/** The command, for tests that start it as a process. */
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

const build = join(import.meta.dirname, "../../tools/build-program.ts");

/** The file that `node` runs: a bundle of the sources, which starts in half the time. */
export const main: string = execFileSync(process.execPath, [build], { encoding: "utf8" }).trim();

/** For NODE_COMPILE_CACHE of processes that load the bundle: they compile it once, and this is removed with the bundle. */
export const compiled: string = join(dirname(main), "compiled");
/** The module `coxswain/testing` of the same bundle, for programs that use the test kit. */
export const kit: string = join(dirname(main), "testing.js");

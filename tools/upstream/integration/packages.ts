/** Upstream's packages of integration tests, built against its test servers or the server under test. */
import { chmodSync, cpSync, existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { upstreamDirectory, upstreamVersion } from "../../../test/support/upstream-programs.ts";
import { moduleDirectory, runGo, writeModule } from "../module.ts";
import { overlay } from "./overlay.ts";

/** A module whose tests start `server`. */
export interface TestModule {
  /** The directory of the module that builds the tests. */
  readonly directory: string;
  /** The directory of k8s.io/kubernetes, which the tests run in. */
  readonly sources: string;
}

/** `upstream` is the kube-apiserver within the process of each test, as upstream runs its tests. */
export type TestedServer = "coxswain" | "upstream";

const kubernetes = "k8s.io/kubernetes";
const changedFiles = [
  "cmd/kube-apiserver/app/testing{,/*}",
  "test/integration/framework{,/*}",
  "test/integration/client/testdata/exec-plugin.sh",
];

/** Prepares the module. When the adapter has changed, the tests are built again. */
export function prepareTests(server: TestedServer): TestModule {
  const directory = join(upstreamDirectory, `integration-${server}`);
  if (server === "upstream") {
    writeModule(directory);
    return { directory, sources: moduleDirectory(directory, kubernetes) };
  }
  const sources = join(directory, "kubernetes");
  if (!existsSync(join(directory, "go.mod"))) copyModule(directory, sources);
  if (overlay(moduleDirectory(directory, `${kubernetes}@${upstreamVersion}`), sources))
    rmSync(join(directory, "bin"), { recursive: true, force: true });
  return { directory, sources };
}

/** The last file that is written is go.mod, so that an interrupted copy is made again. */
function copyModule(directory: string, sources: string): void {
  rmSync(directory, { recursive: true, force: true });
  const preparing = join(upstreamDirectory, "programs");
  writeModule(preparing);
  cpSync(moduleDirectory(preparing, kubernetes), sources, { recursive: true });
  // Go's cache has neither files that can be written nor programs that can be executed.
  for (const file of globSync(changedFiles, { cwd: sources })) chmodSync(join(sources, file), 0o755);
  writeModule(directory, `\nreplace ${kubernetes} => ${sources}\n`);
}

/** The packages that run tests against an API server: those that start its etcd. */
export function findPackages({ sources }: TestModule): string[] {
  const tests = join(sources, "test/integration");
  const files = globSync("**/*_test.go", { cwd: tests }).filter((file) =>
    readFileSync(join(tests, file), "utf8").includes("framework.EtcdMain("),
  );
  return [...new Set(files.map(dirname))].sort();
}

/** Builds the tests of a package unless they are built. @returns the program @throws Error when Go fails */
export function buildPackage({ directory }: TestModule, name: string): string {
  // Named as `go test` does: tests compare the name with that of their client.
  const program = join(directory, "bin", name, `${basename(name)}.test`);
  if (!existsSync(program))
    runGo(directory, ["test", "-c", "-vet=off", "-o", program, `${kubernetes}/test/integration/${name}`]);
  return program;
}

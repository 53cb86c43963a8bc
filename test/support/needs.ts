/** What tests need beyond the repository, and the command that adds it, which is the reason when they are skipped. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

interface Need {
  readonly name: string;
  /** The command that adds it. */
  readonly command: string;
  exists(): boolean;
}

const platform = process.platform === "win32" ? "windows" : process.platform;
const architecture = process.arch === "x64" ? "amd64" : process.arch;
const kubectlUrl = `https://dl.k8s.io/release/v1.36.0/bin/${platform}/${architecture}/kubectl`;

const table = {
  full: {
    name: "COXSWAIN_TEST_FULL=1",
    command: "npm run test:full",
    exists: () => process.env.COXSWAIN_TEST_FULL === "1",
  },
  linux: { name: "Linux", command: "docker run -it node", exists: () => process.platform === "linux" },
  shell: { name: "a POSIX shell", command: "wsl --install", exists: () => process.platform !== "win32" },
  root: { name: "root", command: "sudo npm test", exists: () => process.getuid?.() === 0 },
  kubectl: program("kubectl", `curl -LO ${kubectlUrl} && sudo install kubectl /usr/local/bin`),
  go: program("go", "apt-get install golang"),
  java: program("mvn", "apt-get install maven"),
  rust: program("cargo", "apt-get install cargo"),
  openssl: program("openssl", "apt-get install openssl"),
  jq: program("jq", "apt-get install jq"),
  ps: program("ps", "apt-get install procps"),
  script: program("script", "apt-get install bsdutils"),
  strace: program("strace", "apt-get install strace"),
  promtool: program("promtool", "apt-get install prometheus"),
  systemdAnalyze: program("systemd-analyze", "apt-get install systemd"),
  haproxy: program("haproxy", "apt-get install haproxy"),
  bash: program("bash", "apt-get install bash"),
  fish: program("fish", "apt-get install fish"),
  zsh: {
    name: "zsh with zsh/zpty",
    command: "apt-get install zsh",
    exists: () => spawnSync("zsh", ["-c", "zmodload zsh/zpty"]).status === 0,
  },
  python: {
    name: "Python with venv",
    command: "apt-get install python3-venv",
    exists: () => spawnSync("python3", ["-m", "venv", "--help"]).status === 0,
  },
  docsTools: {
    name: "API Extractor and TypeDoc",
    command: "node tools/ensure-installed.mjs tools/docs",
    exists: () => existsSync(join(import.meta.dirname, "../../tools/docs/node_modules/.package-lock.json")),
  },
} as const satisfies Readonly<Record<string, Need>>;

/** The keys of what {@link skipWithout} knows. */
export type NeedKey = keyof typeof table;

/**
 * Why a test is skipped; false when it is not.
 *
 * @param keys in the order in which they are checked; the first that is missing is the reason
 */
export function skipWithout(...keys: readonly NeedKey[]): string | false {
  const missing = keys.map((key) => table[key]).find((need) => !need.exists());
  return missing !== undefined && reasonOf(missing.name, missing.command);
}

/** The form of all reasons. */
export function reasonOf(name: string, command: string): string {
  return `needs ${name}: \`${command}\` adds it`;
}

function program(name: string, command: string): Need {
  return { name, command, exists: () => isOnPath(name) };
}

function isOnPath(name: string): boolean {
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  const directories = (process.env.PATH ?? "").split(delimiter);
  return directories.some((directory) => names.some((file) => existsSync(join(directory, file))));
}

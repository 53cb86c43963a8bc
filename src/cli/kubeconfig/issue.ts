import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { type ClusterConfig, readKubeconfig } from "../../lib/kubeconfig/kubeconfig.ts";
import { formatKubeconfig } from "../../server/serving/kubeconfig.ts";
import { issueCertificate } from "../../server/serving/x509.ts";
import { FlagError, FlagValueError } from "../flags/contract.ts";
import { durationMs } from "../flags/flag-types.ts";
import { type Output, warn } from "../output.ts";
import { type Authority, readAuthority } from "./authority.ts";

/** The options of `coxswain kubeconfig`. */
export interface IssueOptions {
  readonly user: string;
  readonly group: readonly string[];
  readonly expires: string;
  readonly dataDir: string;
  readonly server?: string;
  readonly clientCaFile?: string;
  readonly clientCaKey?: string;
  readonly write?: string;
  readonly force?: true;
}

/** For servers whose clock is late. */
const earlierMs = 5 * 60_000;

/** Its members are allowed everything, whatever RBAC says. */
const unlimitedGroup = "system:masters";

/**
 * Runs `coxswain kubeconfig`.
 *
 * @throws FlagError, Error if the options are invalid, or a file cannot be read or written
 */
export async function issueKubeconfig(options: IssueOptions, output: Output): Promise<void> {
  const { user, group: groups, write: file, force = false } = options;
  checkNames(user, groups);
  if (file === undefined && force) throw new FlagError("--force needs --write");
  const lifetimeMs = parseLifetime(options.expires);
  const now = Date.now();
  const authority = await readAuthority(options, now);
  const cluster = await readCluster(options);
  const notAfter = Math.min(now + lifetimeMs, authority.notAfter);
  const certificate = await issueCertificate(authority, {
    subject: { commonName: user, organizations: groups },
    usage: "client",
    names: [],
    notBefore: now - earlierMs,
    notAfter,
  });
  const text = formatKubeconfig(cluster.url, { caBundle: cluster.caBundle, admin: certificate, user });
  for (const message of warnings(groups, { authority, notAfter, requested: now + lifetimeMs })) warn(output, message);
  if (file === undefined) return output.out(text);
  await writePrivateFile(file, text, { replace: force });
  output.out(`${file}: user ${JSON.stringify(user)}, valid until ${new Date(notAfter).toISOString()}\n`);
}

function warnings(
  groups: readonly string[],
  { authority, notAfter, requested }: { authority: Authority; notAfter: number; requested: number },
): string[] {
  return [
    ...(groups.includes(unlimitedGroup)
      ? [
          `members of ${unlimitedGroup} are allowed everything, and RBAC cannot take that away before the certificate expires`,
        ]
      : []),
    ...(notAfter < requested ? [`the certificate expires with its authority, ${authority.file}`] : []),
  ];
}

/** @throws Error for names that no server accepts, or that change what a terminal displays */
function checkNames(user: string, groups: readonly string[]): void {
  for (const [flag, name] of [["--user", user], ...groups.map((group) => ["--group", group])] as const) {
    if (name === "") throw new Error(`${flag} must not be empty`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the rejected characters.
    if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name))
      throw new Error(`${flag} must not contain control characters`);
  }
}

/** @throws Error */
function parseLifetime(text: string): number {
  try {
    const milliseconds = durationMs(text);
    if (milliseconds >= 1000) return milliseconds;
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    throw new Error(`--expires: ${error.message}`);
  }
  throw new Error("--expires must be at least 1s");
}

/** Of a file that only its owner can read. */
const privateMode = 0o600;

/**
 * Writes a file that only its owner can read. It never follows a link at the name of the file, which
 * another user of the directory may have placed there.
 *
 * @throws Error if the file exists, unless it may be replaced
 */
async function writePrivateFile(file: string, text: string, { replace }: { readonly replace: boolean }): Promise<void> {
  if (replace) return writeFileAtomically(file, text, privateMode);
  try {
    await writeFile(file, text, { mode: privateMode, flag: "wx", flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new Error(`${file} exists already: --force replaces it`, { cause: error });
  }
}

/** Where a server is, and how clients verify it. */
interface Cluster {
  readonly url: string;
  /** PEM */
  readonly caBundle: string;
}

/**
 * Reads the kubeconfig that the last start has written to the data directory.
 *
 * @param server a URL to use instead of the one in the file
 * @throws Error that says what is missing
 */
async function readCluster({ dataDir, server }: { dataDir: string; server?: string }): Promise<Cluster> {
  const file = join(dataDir, "kubeconfig");
  const { currentContext, contexts, clusters } = await readKubeconfig(file);
  const cluster = clusters.get(contexts.get(currentContext)?.cluster ?? "");
  if (cluster === undefined) throw new Error(`${file} has no cluster`);
  return { url: server === undefined ? cluster.server : httpsUrl(server), caBundle: authorityOf(cluster, file) };
}

function authorityOf(cluster: ClusterConfig, file: string): string {
  const bundle = cluster["certificate-authority-data"];
  if (bundle === "") throw new Error(`${file} has no certificate-authority-data`);
  return bundle;
}

/** @throws FlagError */
function httpsUrl(text: string): string {
  if (URL.parse(text)?.protocol !== "https:")
    throw new FlagError(`--server must be an https URL: ${JSON.stringify(text)}`);
  return text;
}

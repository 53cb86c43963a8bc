import { createHash, X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { printable } from "../../lib/json/printable.ts";
import { colored } from "../colors.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { type AcceptedKey, belongsTo, parseAccepted } from "./accepted-keys.ts";
import { dayMs, soonDays } from "./contract.ts";
import { type Directory, isPrivate, openDirectory } from "./directory.ts";

const exitGood = 0;
const exitProblem = 1;

/** The options of `coxswain certs show`. */
export interface ShowOptions {
  readonly output: OutputFormat;
}

/** A certificate or a public key, as `coxswain certs show -o json` prints it. */
export interface ShownKey {
  readonly file: string;
  /** `in use`: its private key is in the directory. `next`: so is the private key that `--activate` uses. */
  readonly state: "in use" | "next" | "accepted";
  readonly acceptedUntil?: string;
  /** Of a certificate: `CN=…`, from the least significant part. */
  readonly subject?: string;
  readonly issuer?: string;
  readonly usages?: readonly string[];
  readonly names?: string;
  readonly notBefore?: string;
  readonly notAfter?: string;
  /** Of a key: the `kid` of its tokens, and its type. */
  readonly keyId?: string;
  readonly type?: string;
}

/** The number of files that are read. */
const filesMax = 200;

/**
 * Prints the certificates and public keys in a directory, never private keys.
 *
 * @param now milliseconds since 1970
 * @returns the exit code
 * @throws Error when the directory cannot be read, or has none
 */
export async function showCertificates(
  path: string,
  { output: format }: ShowOptions,
  output: Output,
  now: number,
): Promise<number> {
  const directory = openDirectory(path);
  const names = await directory.list();
  const files = names.filter((name) => /\.(?:crt|pem|pub)$/.test(name)).slice(0, filesMax);
  const shown = (await Promise.all(files.map((name) => shownIn(directory, name)))).flat();
  if (shown.length === 0) throw new Error(`${path} has no certificates: coxswain certs init ${path} makes them`);
  const problems = [
    ...shown.flatMap((one) => expiryProblem(one, now)),
    ...names.filter(isPrivate).flatMap((name) => modeProblem(directory, name)),
  ];
  if (format === "json") output.out(`${JSON.stringify({ directory: path, keys: shown, problems }, undefined, 2)}\n`);
  else {
    output.out(shown.map((one) => formatKey(one, now)).join("\n"));
    for (const problem of problems) output.out(`${colored("Problem:", "red", output.outColors)} ${problem}\n`);
  }
  return problems.length === 0 ? exitGood : exitProblem;
}

/** Files of other forms are left out. */
async function shownIn(directory: Directory, file: string): Promise<ShownKey[]> {
  let keys: AcceptedKey[];
  try {
    keys = parseAccepted(await directory.read(file));
  } catch (error) {
    if ("syscall" in (error as Error)) throw error;
    return [];
  }
  const name = basename(file).replace(/\.[a-z]+$/, "");
  const [used, next] = [await directory.find(`${name}.key`), await directory.find(`${name}-next.key`)];
  return keys.map((key) => {
    const state = isOf(used, key) ? "in use" : isOf(next, key) ? "next" : "accepted";
    const until = key.until === undefined ? {} : { acceptedUntil: new Date(key.until).toISOString() };
    return { file, state, ...until, ...(key.pem.includes("BEGIN CERTIFICATE") ? certificateOf(key) : keyOf(key)) };
  });
}

function isOf(privateKey: string | undefined, key: AcceptedKey): boolean {
  try {
    return privateKey !== undefined && belongsTo(privateKey, key);
  } catch {
    return false; // The file has no private key, which is for the commands that use it.
  }
}

const usages: Readonly<Record<string, string>> = {
  "1.3.6.1.5.5.7.3.1": "server",
  "1.3.6.1.5.5.7.3.2": "client",
};

function certificateOf({ pem }: AcceptedKey): Partial<ShownKey> {
  const { subject, issuer, ca, keyUsage, subjectAltName, validFromDate, validToDate } = new X509Certificate(pem);
  return {
    subject: (subject ?? "").replaceAll("\n", ", "),
    issuer: (issuer ?? "").replaceAll("\n", ", "),
    usages: [...(ca ? ["authority"] : []), ...(keyUsage ?? []).map((oid) => usages[oid] ?? oid)],
    ...(subjectAltName !== undefined && { names: subjectAltName.replaceAll(/(?:DNS|IP Address):/g, "") }),
    notBefore: validFromDate.toISOString(),
    notAfter: validToDate.toISOString(),
  };
}

function keyOf({ publicKey }: AcceptedKey): Partial<ShownKey> {
  const bytes = publicKey.export({ type: "spki", format: "der" });
  const keyId = createHash("sha256").update(bytes).digest("base64url");
  return { keyId, type: publicKey.asymmetricKeyDetails?.namedCurve ?? publicKey.asymmetricKeyType ?? "" };
}

function expiryProblem({ file, subject, notAfter, state }: ShownKey, now: number): string[] {
  if (notAfter === undefined || state !== "in use") return [];
  const days = (Date.parse(notAfter) - now) / dayMs;
  if (days >= soonDays) return [];
  const verb = days < 0 ? "has expired" : "expires";
  return [`${file} (${printable(subject ?? "")}) ${verb} at ${notAfter}: coxswain certs renew renews it`];
}

/** Windows has no such modes. */
function modeProblem({ path }: Directory, name: string): string[] {
  const mode = statSync(join(path, name), { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform === "win32" || (mode & 0o077) === 0) return [];
  const file = join(path, name);
  return [`${file} can be read by others (mode ${(mode & 0o777).toString(8)}): chmod 600 ${file}`];
}

function formatKey(key: ShownKey, now: number): string {
  const { file, state, acceptedUntil, subject, issuer, names, notBefore, notAfter, keyId, type } = key;
  const title = subject === undefined ? `key ${keyId}` : printable(subject);
  const days = Math.floor((Date.parse(notAfter ?? "") - now) / dayMs);
  const lines: (readonly [string, string | undefined])[] = [
    ["State", acceptedUntil === undefined ? state : `${state} until ${acceptedUntil}`],
    ["Type", type],
    ["Usages", key.usages?.join(", ")],
    ["Issuer", issuer === undefined || issuer === subject ? undefined : printable(issuer)],
    ["Names", names === undefined ? undefined : printable(names)],
    ["Valid", notAfter === undefined ? undefined : `${notBefore} to ${notAfter}, ${days} days left`],
  ];
  const shown = lines.flatMap(([label, text]) => (text === undefined ? [] : [`  ${`${label}:`.padEnd(8)}${text}\n`]));
  return `${file}: ${title}\n${shown.join("")}`;
}

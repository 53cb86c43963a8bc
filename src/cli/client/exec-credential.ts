/**
 * Credentials of a client-go credential plugin, kept until they expire or the server rejects them.
 * Source: Kubernetes docs, Authenticating, client-go credential plugins;
 * `k8s.io/client-go@v0.36.0/plugin/pkg/client/auth/exec/exec.go`.
 */
import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { normalize } from "node:path";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { JsonSyntaxError, parseJson } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isObject } from "../../lib/json/values.ts";
import type { ExecConfig } from "../../lib/kubeconfig/kubeconfig.ts";
import { decodeYaml, YamlError } from "../../lib/yaml/decode.ts";

/** Credentials of requests. */
export interface Credentials {
  /** Empty if there is none. */
  readonly token: string;
  /** PEM; both or neither are set. */
  readonly cert?: string;
  readonly key?: string;
}

/** The credentials of one plugin. */
export interface ExecCredentials {
  /**
   * Returns valid credentials; runs the plugin if necessary.
   *
   * @throws Error with client-go's message
   */
  get(): Promise<Credentials>;
  /**
   * The server answered 401: runs the plugin again unless it has already returned other
   * credentials.
   */
  reject(credentials: Credentials): Promise<void>;
}

/** The cluster as KUBERNETES_EXEC_INFO describes it to the plugin. */
export interface ExecCluster {
  readonly server: string;
  readonly serverName: string;
  readonly insecure: boolean;
  /** PEM. */
  readonly ca: string | undefined;
  readonly proxyUrl: string;
  readonly disableCompression: boolean;
  readonly config: unknown;
}

/** The environment in which plugins run. */
export interface ExecEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** Whether the plugin can prompt the user at standard input. */
  readonly stdinIsTerminal: boolean;
  /** Milliseconds since 1970. */
  now(): number;
}

const apiVersions: ReadonlySet<string> = new Set([
  "client.authentication.k8s.io/v1",
  "client.authentication.k8s.io/v1beta1",
]);
const standardHint = `

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins`;

/** Prepares a plugin without running it. @throws Error for an unknown apiVersion of the plugin */
export function execCredentials(
  config: ExecConfig,
  cluster: ExecCluster,
  environment: ExecEnvironment,
): ExecCredentials {
  if (!apiVersions.has(config.apiVersion))
    throw new Error(`exec plugin: invalid apiVersion ${quoteGo(config.apiVersion)}`);
  let kept: { readonly credentials: Credentials; readonly until: number } | undefined;
  // Requests share one run of the plugin, which may be prompting the user.
  let running: Promise<Credentials> | undefined;
  const refresh = (): Promise<Credentials> => {
    running ??= run(config, cluster, environment)
      .then((answer) => {
        kept = answer;
        return answer.credentials;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  return {
    async get() {
      return kept !== undefined && environment.now() <= kept.until ? kept.credentials : refresh();
    },
    async reject(credentials) {
      if (kept?.credentials === credentials) await refresh();
    },
  };
}

async function run(
  config: ExecConfig,
  cluster: ExecCluster,
  { env, stdinIsTerminal }: ExecEnvironment,
): Promise<{ credentials: Credentials; until: number }> {
  const interactive = isInteractive(config, stdinIsTerminal);
  const own = Object.fromEntries(config.env.map(({ name, value }) => [name, value]));
  const info = { KUBERNETES_EXEC_INFO: execInfo(config, cluster, interactive) };
  const command = normalize(config.command);
  return decode(await outputOf(command, config, { env: { ...env, ...own, ...info }, interactive }), config.apiVersion);
}

function isInteractive({ interactiveMode }: ExecConfig, stdinIsTerminal: boolean): boolean {
  if (interactiveMode === "Always" && !stdinIsTerminal)
    throw new Error("exec plugin cannot support interactive mode: standard input is not a terminal");
  return interactiveMode !== "Never" && stdinIsTerminal;
}

/** The value of KUBERNETES_EXEC_INFO, with client-go's newline at the end. */
function execInfo({ apiVersion, provideClusterInfo }: ExecConfig, cluster: ExecCluster, interactive: boolean): string {
  const clusterInfo = {
    server: cluster.server,
    ...(cluster.serverName !== "" && { "tls-server-name": cluster.serverName }),
    ...(cluster.insecure && { "insecure-skip-tls-verify": true }),
    ...(cluster.ca !== undefined && { "certificate-authority-data": Buffer.from(cluster.ca).toString("base64") }),
    ...(cluster.proxyUrl !== "" && { "proxy-url": cluster.proxyUrl }),
    ...(cluster.disableCompression && { "disable-compression": true }),
    config: cluster.config,
  };
  const spec = { ...(provideClusterInfo && { cluster: clusterInfo }), interactive };
  return `${encodeAny({ kind: "ExecCredential", apiVersion, spec })}\n`;
}

/** Limit of the bytes that a plugin may print; client-go has none. */
const outputBytesMax = 1 << 20;

function outputOf(
  command: string,
  config: ExecConfig,
  { env, interactive }: { env: NodeJS.ProcessEnv; interactive: boolean },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, config.args, { env, stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"] });
    const pieces: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on("data", (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > outputBytesMax) child.kill();
    });
    child.on("error", (error: NodeJS.ErrnoException) => reject(startProblem(error, command, config)));
    child.on("close", (code, signal) => {
      if (bytes > outputBytesMax)
        reject(new Error(`exec: executable ${command} printed more than ${outputBytesMax} bytes`));
      else if (code !== 0)
        reject(new Error(`exec: executable ${command} failed with exit code ${signal === null ? code : -1}`));
      else resolve(Buffer.concat(pieces));
    });
  });
}

function startProblem(error: NodeJS.ErrnoException, command: string, { installHint }: ExecConfig): Error {
  if (error.code !== "ENOENT") return new Error(`exec: ${error.message}`);
  // The hint comes from a file and must not send escape sequences to the terminal.
  const hint = installHint === "" ? "" : `\n\n${installHint.replaceAll("\u001b", "^[")}`;
  return new Error(`exec: executable ${command} not found${standardHint}${hint}`);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * @throws Error that quotes no part of the output except versions, because the output holds secrets
 */
function decode(output: Buffer, apiVersion: string): { credentials: Credentials; until: number } {
  const printed = parse(output);
  if (printed.kind !== "ExecCredential") throw new Error("decoding stdout: it is not an ExecCredential");
  if (printed.apiVersion !== apiVersion) {
    throw new Error(
      `exec plugin is configured to use API version ${apiVersion}, plugin returned version ${textAt(printed, "apiVersion", "ExecCredential")}`,
    );
  }
  const { status } = printed;
  if (status === undefined || status === null) throw new Error("exec plugin didn't return a status field");
  if (!isObject(status)) throw new Error("decoding stdout: status is not an object");
  const text = (field: string): string => textAt(status, field, "ExecCredentialStatus.status");
  const [token, cert, key] = [text("token"), text("clientCertificateData"), text("clientKeyData")];
  if (token === "" && cert === "" && key === "") throw new Error("exec plugin didn't return a token or cert/key pair");
  if ((cert === "") !== (key === "")) throw new Error("exec plugin returned only certificate or key, not both");
  if (cert !== "") checkCertificate(cert);
  return { credentials: { token, ...(cert !== "" && { cert, key }) }, until: expiryOf(text("expirationTimestamp")) };
}

function parse(output: Buffer): Fields {
  try {
    const value = output.toString("latin1").trimStart().startsWith("{")
      ? parseJson(output).value
      : decodeYaml(output).value;
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof YamlError)) throw error;
  }
  throw new Error("decoding stdout: couldn't get version/kind; it is not an object in JSON or YAML");
}

function textAt(fields: Fields, field: string, struct: string): string {
  const value = fields[field] ?? "";
  if (typeof value !== "string") throw new Error(`decoding stdout: ${struct}.${field} is not a string`);
  return value;
}

function checkCertificate(pem: string): void {
  try {
    new X509Certificate(pem);
  } catch (error) {
    throw new Error("failed parsing client key/certificate: it is not a PEM certificate", { cause: error });
  }
}

/** Parses an RFC 3339 time. @returns milliseconds since 1970; infinity for an empty text */
function expiryOf(text: string): number {
  if (text === "") return Number.POSITIVE_INFINITY;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new Error("decoding stdout: ExecCredentialStatus.status.expirationTimestamp is not a time");
  return at;
}

/**
 * Reads kubeconfig files, with the rules and messages of client-go. Source: client-go's
 * tools/clientcmd.
 */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { readBoundedFile } from "../bounded-file/bounded-file.ts";
import { goKindOf, JsonSyntaxError, parseJson, TypeMetaError, typeMetaOf } from "../json/parse.ts";
import { quoteGo } from "../json/quote.ts";
import { decodeYaml, YamlError } from "../yaml/decode.ts";

const clusterFields = [
  "server",
  "tls-server-name",
  "certificate-authority",
  "certificate-authority-data",
  "proxy-url",
] as const;
const certificateFields = ["client-certificate", "client-certificate-data", "client-key", "client-key-data"] as const;
const userFields = [...certificateFields, "token", "tokenFile", "username", "password", "as", "as-uid"] as const;
const pathFields: ReadonlySet<string> = new Set([
  "certificate-authority",
  "client-certificate",
  "client-key",
  "tokenFile",
]);

/** A cluster. Absent fields are empty, data is decoded, paths are absolute. */
export type ClusterConfig = Readonly<Record<(typeof clusterFields)[number], string>> & {
  readonly insecure: boolean;
  readonly disableCompression: boolean;
  /** The extension for exec plugins. */
  readonly execExtension: unknown;
};

/** The credentials of a user. Absent fields are empty, data is decoded, paths are absolute. */
export type UserConfig = Readonly<Record<(typeof userFields)[number], string>> & {
  readonly asGroups: readonly string[];
  readonly asExtra: ReadonlyMap<string, readonly string[]>;
  readonly exec: ExecConfig | undefined;
  readonly authProvider: boolean;
};

/** A command that returns credentials. */
export interface ExecConfig {
  /** An absolute path if it contains a slash, else a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  /** `Never`, `IfAvailable`, `Always`, or any other text of the file. */
  readonly interactiveMode: string;
}

/** A context: which user and namespace to use with a cluster. */
export interface ContextConfig {
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string;
}

/** A kubeconfig file. */
export interface Kubeconfig {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, ClusterConfig>;
  readonly users: ReadonlyMap<string, UserConfig>;
  readonly contexts: ReadonlyMap<string, ContextConfig>;
}

/**
 * Reads a kubeconfig file. Unknown fields are ignored.
 * @throws Error with upstream's message: `stat …: no such file or directory`, `error loading config
 *   file "…": …`
 */
export async function readKubeconfig(file: string): Promise<Kubeconfig> {
  if (!(await exists(file))) throw new Error(`stat ${file}: no such file or directory`);
  try {
    return decode(await read(file), dirname(resolve(file)));
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error;
    throw new Error(`error loading config file ${quoteGo(file)}: ${error.message}`);
  }
}

class ConfigProblem extends Error {}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readBoundedFile(file);
  } catch (error) {
    const problem = fileProblem(error, file);
    if (problem === undefined) throw error;
    throw new ConfigProblem(problem);
  }
}

/** Go's message for an error of reading a file; undefined when it is not an error of the system. */
export function fileProblem(error: unknown, file: string): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  if (error.code === "EISDIR") return `read ${file}: is a directory`;
  if (error.code === "ENOENT") return `open ${file}: no such file or directory`;
  return error.code === "EACCES" ? `open ${file}: permission denied` : error.message;
}

function decode(bytes: Buffer, directory: string): Kubeconfig {
  const value = parse(bytes);
  const { apiVersion, kind } = namedKind(value);
  if ((apiVersion !== "" && apiVersion !== "v1") || (kind !== "" && kind !== "Config"))
    throw new ConfigProblem(
      `no kind ${quoteGo(kind || "Config")} is registered for version ${quoteGo(apiVersion || "v1")} in scheme "pkg/runtime/scheme.go:111"`,
    );
  const members = (value ?? {}) as Members;
  return {
    currentContext: textOf(members["current-context"], "Config.current-context"),
    clusters: named(members, "clusters", "cluster", "NamedCluster", (one) => readCluster(one, directory)),
    users: named(members, "users", "user", "NamedAuthInfo", (one) => readUser(one, directory)),
    contexts: named(members, "contexts", "context", "NamedContext", (one) => ({
      cluster: textOf(one.cluster, "Context.contexts.context.cluster"),
      user: textOf(one.user, "Context.contexts.context.user"),
      namespace: textOf(one.namespace, "Context.contexts.context.namespace"),
    })),
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return bytes.toString("latin1").trimStart().startsWith("{") ? parseJson(bytes).value : decodeYaml(bytes).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw new ConfigProblem(`couldn't get version/kind; json parse error: ${error.message}`);
    if (error instanceof YamlError) throw new ConfigProblem(error.message);
    throw error;
  }
}

function namedKind(value: unknown): { readonly apiVersion: string; readonly kind: string } {
  try {
    return typeMetaOf(value);
  } catch (error) {
    if (!(error instanceof TypeMetaError)) throw error;
    throw new ConfigProblem(error.message);
  }
}

type Members = Readonly<Record<string, unknown>>;

/** Reads a list of `{name, <member>: {…}}`, by name. */
function named<T>(
  config: Members,
  field: string,
  member: string,
  type: string,
  readOne: (one: Members) => T,
): Map<string, T> {
  const found = new Map<string, T>();
  for (const members of listOf(config[field], `Config.${field}`, `[]v1.${type}`)) {
    const name = textOf(members.name, `${type}.${field}.name`);
    if (found.has(name)) throw new ConfigProblem(`duplicate name ${quoteGo(name)} in list of ${field}`);
    found.set(
      name,
      readOne(membersOf(members[member], `${type}.${field}.${member}`, `v1.${type.slice("Named".length)}`)),
    );
  }
  return found;
}

function readCluster(members: Members, directory: string): ClusterConfig {
  const at = (field: string): string => `Cluster.clusters.cluster.${field}`;
  const texts = readTexts(clusterFields, members, at, directory);
  const extensions = listOf(members.extensions, at("extensions"), "[]v1.NamedExtension");
  const forPlugins = extensions.find(
    (one) => textOf(one.name, "NamedExtension.clusters.cluster.extensions.name") === execExtensionName,
  );
  return {
    ...texts,
    insecure: members["insecure-skip-tls-verify"] === true,
    disableCompression: members["disable-compression"] === true,
    execExtension: forPlugins?.extension ?? null,
  };
}

const execExtensionName = "client.authentication.k8s.io/exec";

function readUser(members: Members, directory: string): UserConfig {
  const at = (field: string): string => `AuthInfo.users.user.${field}`;
  const extra = membersOf(members["as-user-extra"], at("as-user-extra"), "map[string][]string");
  return {
    ...readTexts(userFields, members, at, directory),
    asGroups: textsOf(members["as-groups"], at("as-groups")),
    asExtra: new Map(Object.entries(extra).map(([key, values]) => [key, textsOf(values, at("as-user-extra"))])),
    exec: isSet(members.exec) ? readExec(membersOf(members.exec, at("exec"), "v1.ExecConfig"), directory) : undefined,
    authProvider: isSet(members["auth-provider"]),
  };
}

/** A user without credentials. */
export const emptyUser: UserConfig = readUser({}, "/");

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/**
 * Reads an exec plugin. The interactive mode is optional in v1beta1 and required in later versions.
 */
function readExec(members: Members, directory: string): ExecConfig {
  const text = (field: string): string => textOf(members[field], `ExecConfig.users.user.exec.${field}`);
  const command = text("command");
  const apiVersion = text("apiVersion");
  const env = listOf(members.env, "ExecConfig.users.user.exec.env", "[]v1.ExecEnvVar");
  return {
    command: command.includes("/") ? resolve(directory, command) : command,
    args: textsOf(members.args, "ExecConfig.users.user.exec.args"),
    env: env.map(({ name, value }) => ({
      name: textOf(name, "ExecEnvVar.users.user.exec.env.name"),
      value: textOf(value, "ExecEnvVar.users.user.exec.env.value"),
    })),
    apiVersion,
    installHint: text("installHint"),
    provideClusterInfo: members.provideClusterInfo === true,
    interactiveMode: text("interactiveMode") || (/\/v1(?:alpha|beta)1$/.test(apiVersion) ? "IfAvailable" : ""),
  };
}

function textsOf(value: unknown, at: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongType(value, at, "[]string");
  return value.map((one) => textOf(one, at));
}

function listOf(value: unknown, at: string, type: string): Members[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongType(value, at, type);
  return value.map((one) => membersOf(one, at, type.slice(2)));
}

/** Reads string fields: absent ones are empty, data is decoded, paths become absolute. */
function readTexts<F extends string>(
  fields: readonly F[],
  members: Members,
  at: (field: string) => string,
  directory: string,
): Record<F, string> {
  const texts = fields.map((field) => {
    const text = textOf(members[field], at(field));
    if (text === "") return [field, ""];
    if (field.endsWith("-data")) return [field, decodeBase64(text)];
    return [field, pathFields.has(field) ? resolve(directory, text) : text];
  });
  return Object.fromEntries(texts);
}

function decodeBase64(text: string): string {
  const joined = text.replace(/[\r\n]/g, "");
  const wrong = /[^A-Za-z0-9+/=]/.exec(joined);
  if (wrong !== null || joined.length % 4 !== 0)
    throw new ConfigProblem(`illegal base64 data at input byte ${wrong?.index ?? joined.length}`);
  return Buffer.from(joined, "base64").toString();
}

function textOf(value: unknown, at: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw wrongType(value, at, "string");
  return value;
}

function membersOf(value: unknown, at: string, type: string): Members {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw wrongType(value, at, type);
  return value as Members;
}

function wrongType(value: unknown, at: string, type: string): ConfigProblem {
  return new ConfigProblem(`json: cannot unmarshal ${goKindOf(value)} into Go struct field ${at} of type ${type}`);
}

/**
 * Reads a file that a kubeconfig refers to.
 * @returns undefined when the path is empty
 * @throws Error with upstream's message
 */
export async function contentOfFile(file: string): Promise<string | undefined> {
  return file === "" ? undefined : (await readGiven(file)).toString();
}

/**
 * Reads a file that the user named.
 * @throws Error with upstream's message, such as `open /x: no such file or directory`
 */
export async function readGiven(file: string): Promise<Buffer> {
  try {
    return await readBoundedFile(file);
  } catch (error) {
    throw new Error(fileProblem(error, file) ?? "", { cause: error });
  }
}

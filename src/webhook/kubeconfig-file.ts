/**
 * Reads a kubeconfig whose current context says which webhook to call, and as whom. Source: client-go's tools/clientcmd, as LoadKubeconfig of
 * k8s.io/apiserver's util/webhook uses it: its rules and texts.
 */
import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { goKindOf, JsonSyntaxError, parseJson, TypeMetaError, typeMetaOf } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { decodeYaml, YamlError } from "../lib/yaml/decode.ts";
import type { WebhookEndpoint } from "./contract.ts";

/**
 * Fields that nobody knows are passed over; paths in the file are relative to it. Unlike upstream, `proxy-url`, `exec` and `auth-provider` are refused.
 * @throws Error in upstream's words: `error loading config file "…": …`, `invalid configuration: …`
 */
export async function readWebhookKubeconfig(file: string): Promise<WebhookEndpoint> {
  const config = await load(file);
  const context = config.contexts.get(config.currentContext);
  const user = config.users.get(context?.user ?? "");
  const cluster = config.clusters.get(context?.cluster ?? "");
  const problems = [
    ...(config.currentContext !== "" && context === undefined ? [`context was not found for specified context: ${config.currentContext}`] : []),
    ...(user === undefined ? [] : await userProblems(context?.user as string, user)),
  ];
  if (cluster === undefined && problems.length === 0) throw new Error(`invalid configuration: ${noConfiguration}`);
  problems.push(...(cluster === undefined ? ["cluster has no server defined"] : await clusterProblems(context?.cluster as string, cluster)));
  if (problems.length > 0) throw new Error(`invalid configuration: ${problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`}`);
  return endpointOf(cluster as Cluster, user ?? readUser({}, ""));
}

const noConfiguration = "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

const clusterFields = ["server", "tls-server-name", "certificate-authority", "certificate-authority-data", "proxy-url"] as const;
const certificateFields = ["client-certificate", "client-certificate-data", "client-key", "client-key-data"] as const;
const userFields = [...certificateFields, "token", "tokenFile", "username", "password", "as"] as const;
const pathFields: ReadonlySet<string> = new Set(["certificate-authority", "client-certificate", "client-key", "tokenFile"]);

type Cluster = Readonly<Record<(typeof clusterFields)[number], string>> & { readonly insecure: boolean };
type User = Readonly<Record<(typeof userFields)[number], string>> & {
  readonly exec: boolean;
  readonly authProvider: boolean;
  /** Whether groups and the like are named of somebody to act as. */
  readonly asOthers: boolean;
};

interface Config {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly users: ReadonlyMap<string, User>;
  readonly contexts: ReadonlyMap<string, { readonly cluster: string; readonly user: string }>;
}

async function load(file: string): Promise<Config> {
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
    return await readFile(file);
  } catch (error) {
    const problem = fileProblem(error, file);
    if (problem === undefined) throw error;
    throw new ConfigProblem(problem);
  }
}

/** As Go says it. Undefined: it is no error of the system. */
function fileProblem(error: unknown, file: string): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  if (error.code === "EISDIR") return `read ${file}: is a directory`;
  if (error.code === "ENOENT") return `open ${file}: no such file or directory`;
  return error.code === "EACCES" ? `open ${file}: permission denied` : error.message;
}

function decode(bytes: Buffer, directory: string): Config {
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
    })),
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return bytes.toString("latin1").trimStart().startsWith("{") ? parseJson(bytes).value : decodeYaml(bytes).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ConfigProblem(`couldn't get version/kind; json parse error: ${error.message}`);
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

/** A list of `{name, <member>: {…}}` by name. */
function named<T>(config: Members, field: string, member: string, type: string, readOne: (one: Members) => T): Map<string, T> {
  const list = config[field];
  if (list !== undefined && list !== null && !Array.isArray(list)) throw wrongType(list, `Config.${field}`, `[]v1.${type}`);
  const found = new Map<string, T>();
  for (const one of (list ?? []) as unknown[]) {
    const members = membersOf(one, `Config.${field}`, `v1.${type}`);
    const name = textOf(members.name, `${type}.${field}.name`);
    if (found.has(name)) throw new ConfigProblem(`duplicate name ${quoteGo(name)} in list of ${field}`);
    found.set(name, readOne(membersOf(members[member], `${type}.${field}.${member}`, `v1.${type.slice("Named".length)}`)));
  }
  return found;
}

function readCluster(members: Members, directory: string): Cluster {
  const at = (field: string): string => `Cluster.clusters.cluster.${field}`;
  const texts = readTexts(clusterFields, members, at, directory);
  return { ...texts, insecure: members["insecure-skip-tls-verify"] === true };
}

function readUser(members: Members, directory: string): User {
  const texts = readTexts(userFields, members, (field) => `AuthInfo.users.user.${field}`, directory);
  const asOthers = ["as-uid", "as-groups", "as-user-extra"].some((field) => isGiven(members[field]));
  return { ...texts, exec: isGiven(members.exec), authProvider: isGiven(members["auth-provider"]), asOthers };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** Absent ones are empty; data is decoded, paths are made absolute. */
function readTexts<F extends string>(fields: readonly F[], members: Members, at: (field: string) => string, directory: string): Record<F, string> {
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
  if (wrong !== null || joined.length % 4 !== 0) throw new ConfigProblem(`illegal base64 data at input byte ${wrong?.index ?? joined.length}`);
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

async function userProblems(name: string, user: User): Promise<string[]> {
  const problems: string[] = [];
  const methods = [...(user.token === "" ? [] : ["token"]), ...(user.username === "" && user.password === "" ? [] : ["basicAuth"])];
  if (user["client-certificate"] !== "" || user["client-certificate-data"] !== "") problems.push(...(await certificateProblems(name, user)));
  if (user.exec) problems.push(`exec plugins are not supported, but ${name} has one`);
  if (user.authProvider) problems.push(`auth providers are not supported, but ${name} has one`);
  if (methods.length > 1) problems.push(`more than one authentication method found for ${name}; found [${methods.join(" ")}], only one is allowed`);
  if (user.asOthers && user.as === "") problems.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`);
  else if (user.as !== "") problems.push(`impersonation is not supported, but ${name} asks for it`);
  return problems;
}

async function certificateProblems(name: string, user: User): Promise<string[]> {
  const { "client-certificate": cert, "client-certificate-data": certData, "client-key": key, "client-key-data": keyData } = user;
  const problems: string[] = [];
  if (cert !== "" && certData !== "")
    problems.push(`client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`);
  if (key !== "" && keyData !== "") problems.push(`client-key-data and client-key are both specified for ${name}; client-key-data will override`);
  if (key === "" && keyData === "")
    problems.push(`client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`);
  for (const [what, file] of Object.entries({ "client-cert": cert, "client-key": key })) {
    const problem = file === "" ? undefined : await unreadable(file);
    if (problem !== undefined) problems.push(`unable to read ${what} ${file} for ${name} due to ${problem}`);
  }
  return problems;
}

async function clusterProblems(name: string, cluster: Cluster): Promise<string[]> {
  const { server, "proxy-url": proxy, "certificate-authority": ca, "certificate-authority-data": caData } = cluster;
  const problems: string[] = [];
  if (server === "") problems.push(`no server found for cluster ${quoteGo(name)}`);
  if (proxy !== "") problems.push(`invalid 'proxy-url' ${quoteGo(proxy)} for cluster ${quoteGo(name)}: proxies are not supported`);
  if (ca !== "" && caData !== "")
    problems.push(`certificate-authority-data and certificate-authority are both specified for ${name}. certificate-authority-data will override.`);
  const problem = ca === "" ? undefined : await unreadable(ca);
  if (problem !== undefined) problems.push(`unable to read certificate-authority ${ca} for ${name} due to ${problem}`);
  return problems;
}

async function unreadable(file: string): Promise<string | undefined> {
  try {
    await readFile(file);
    return undefined;
  } catch (error) {
    const problem = fileProblem(error, file);
    if (problem === undefined) throw error;
    return problem;
  }
}

/** Who we are is told over TLS alone. */
async function endpointOf(cluster: Cluster, user: User): Promise<WebhookEndpoint> {
  const url = serverUrl(cluster.server);
  if (!url.startsWith("https:")) return { url };
  const ca = cluster["certificate-authority-data"] || (await contentOf(cluster["certificate-authority"]));
  if (cluster.insecure && ca !== undefined) throw new Error("specifying a root certificates file with the insecure flag is not allowed");
  const cert = user["client-certificate-data"] || (await contentOf(user["client-certificate"]));
  const key = user["client-key-data"] || (await contentOf(user["client-key"]));
  const tokenFile = user.token === "" ? user.tokenFile : "";
  const token = user.token || (await contentOf(tokenFile))?.trim();
  const { username, password } = user;
  return {
    url,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(cert !== undefined && key !== undefined && { key }),
    ...(cluster["tls-server-name"] !== "" && { serverName: cluster["tls-server-name"] }),
    ...(cluster.insecure && { insecureSkipTlsVerify: true }),
    ...(token !== undefined && { token }),
    ...(tokenFile !== "" && { tokenFile }),
    ...((username !== "" || password !== "") && { basic: { username, password } }),
  };
}

/** A host alone is taken for one without TLS, as upstream does. */
function serverUrl(server: string): string {
  const url = URL.parse(server.includes("://") ? server : `http://${server}`);
  if (url === null || !["http:", "https:"].includes(url.protocol)) throw new Error(`host must be a URL or a host:port pair: ${quoteGo(server)}`);
  return url.pathname === "/" ? url.origin : `${url.origin}${url.pathname}`;
}

async function contentOf(file: string): Promise<string | undefined> {
  if (file === "") return undefined;
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Error(fileProblem(error, file) ?? "", { cause: error });
  }
}

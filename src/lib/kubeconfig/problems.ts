/**
 * Finds contradictions and readProblem files in a kubeconfig. Source: client-go's
 * tools/clientcmd/validation.go.
 */
import { readBoundedFile } from "../bounded-file/bounded-file.ts";
import { joinErrors, quoteGo } from "../json/quote.ts";
import { type ClusterConfig, type ExecConfig, fileProblem, type UserConfig } from "./kubeconfig.ts";

/** Lists the problems of a user, with upstream's messages. */
export async function userProblems(name: string, user: UserConfig): Promise<string[]> {
  const problems: string[] = [];
  const methods = [
    ...(user.token === "" ? [] : ["token"]),
    ...(user.username === "" && user.password === "" ? [] : ["basicAuth"]),
  ];
  if (user["client-certificate"] !== "" || user["client-certificate-data"] !== "")
    problems.push(...(await certificateProblems(name, user)));
  if (user.exec !== undefined) problems.push(...execProblems(name, user, user.exec));
  if (methods.length > 1)
    problems.push(
      `more than one authentication method found for ${name}; found [${methods.join(" ")}], only one is allowed`,
    );
  const impersonatesDetails = user["as-uid"] !== "" || user.asGroups.length > 0 || user.asExtra.size > 0;
  if (impersonatesDetails && user.as === "")
    problems.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`);
  return problems;
}

async function certificateProblems(name: string, user: UserConfig): Promise<string[]> {
  const {
    "client-certificate": cert,
    "client-certificate-data": certData,
    "client-key": key,
    "client-key-data": keyData,
  } = user;
  const problems: string[] = [];
  if (cert !== "" && certData !== "")
    problems.push(`client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`);
  if (key !== "" && keyData !== "")
    problems.push(`client-key-data and client-key are both specified for ${name}; client-key-data will override`);
  if (key === "" && keyData === "")
    problems.push(
      `client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`,
    );
  for (const [what, file] of Object.entries({ "client-cert": cert, "client-key": key })) {
    const problem = file === "" ? undefined : await readProblem(file);
    if (problem !== undefined) problems.push(`unable to read ${what} ${file} for ${name} due to ${problem}`);
  }
  return problems;
}

/** Lists the problems of a cluster, with upstream's messages. */
export async function clusterProblems(name: string, cluster: ClusterConfig): Promise<string[]> {
  const { server, "certificate-authority": ca, "certificate-authority-data": caData } = cluster;
  const problems: string[] = [];
  if (server === "") problems.push(`no server found for cluster ${quoteGo(name)}`);
  if (ca !== "" && caData !== "")
    problems.push(
      `certificate-authority-data and certificate-authority are both specified for ${name}. certificate-authority-data will override.`,
    );
  const problem = ca === "" ? undefined : await readProblem(ca);
  if (problem !== undefined) problems.push(`unable to read certificate-authority ${ca} for ${name} due to ${problem}`);
  return problems;
}

async function readProblem(file: string): Promise<string | undefined> {
  try {
    await readBoundedFile(file);
    return undefined;
  } catch (error) {
    const problem = fileProblem(error, file);
    if (problem === undefined) throw error;
    return problem;
  }
}

const interactiveModes: ReadonlySet<string> = new Set(["Never", "IfAvailable", "Always"]);

function execProblems(
  name: string,
  { authProvider }: UserConfig,
  { command, apiVersion, env, interactiveMode }: ExecConfig,
): string[] {
  const must = (what: string): string => `${what} must be specified for ${name} to use exec authentication plugin`;
  return [
    ...(authProvider ? [`authProvider cannot be provided in combination with an exec plugin for ${name}`] : []),
    ...(command === "" ? [must("command")] : []),
    ...(apiVersion === "" ? [must("apiVersion")] : []),
    ...env.filter((one) => one.name === "").map(() => must("env variable name")),
    ...(interactiveMode === "" ? [must("interactiveMode")] : []),
    ...(interactiveMode === "" || interactiveModes.has(interactiveMode)
      ? []
      : [`invalid interactiveMode for ${name}: ${quoteGo(interactiveMode)}`]),
  ];
}

/** Joins problems to one error; undefined without problems. */
export function invalidConfiguration(problems: readonly string[]): Error | undefined {
  if (problems.length === 0) return undefined;
  return new Error(`invalid configuration: ${joinErrors(problems)}`);
}

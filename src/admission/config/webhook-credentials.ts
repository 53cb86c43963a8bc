/**
 * Selects the credentials of webhooks from the users of a kubeconfig.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/authentication.go; Kubernetes docs, "Dynamic
 * Admission Control", heading "Authenticate API servers".
 */
import { contentOfFile, type Kubeconfig, readKubeconfig, type UserConfig } from "../../lib/kubeconfig/kubeconfig.ts";
import type { Address } from "../../webhook/contract.ts";
import type { FindCredentials, WebhookCredentials } from "./contract.ts";

/** No webhook has credentials. */
export const withoutCredentials: FindCredentials = async () => ({});

/**
 * Reads a kubeconfig whose users are named after the webhooks that they are for: `host`,
 * `host:port`, `*.suffix` with or without a port, and `*` for all others. Names without a port are
 * for port 443. Without a match, the user of the current context applies.
 *
 * @throws Error with upstream's message when the file is invalid; unlike upstream, also when a user
 *   has an exec plugin or impersonates another user
 */
export async function readWebhookCredentials(file: string): Promise<FindCredentials> {
  const config = await readKubeconfig(file);
  for (const [name, user] of config.users) checkSupported(name, user);
  return async (address) => {
    const user = findUser(config, address);
    return user === undefined ? {} : credentialsOf(user);
  };
}

function checkSupported(name: string, { exec, as }: UserConfig): void {
  if (exec !== undefined) throw new Error(`exec plugins are not supported, but ${name} has one`);
  if (as !== "") throw new Error(`impersonation is not supported, but ${name} asks for it`);
}

const defaultPort = 443;

function findUser({ users, contexts, currentContext }: Kubeconfig, { host, port }: Address): UserConfig | undefined {
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const names = [...namesOf(target), ...(port === defaultPort ? namesOf(host) : []), "*"];
  const name = names.find((one) => users.has(one));
  if (name !== undefined) return users.get(name);
  const current = currentContext === "" ? "" : (contexts.get(currentContext)?.user ?? "");
  return current === "" ? undefined : users.get(current);
}

/** A target, and the patterns of its suffixes from the longest to the shortest. */
function namesOf(target: string): string[] {
  const steps = target.split(".");
  return [target, ...steps.slice(1).map((_, index) => `*.${steps.slice(index + 1).join(".")}`)];
}

async function credentialsOf(user: UserConfig): Promise<WebhookCredentials> {
  if (user.authProvider) throw new Error("auth provider not supported");
  const { tokenFile, username, password } = user;
  const token = user.token || (await contentOfFile(tokenFile))?.trim() || "";
  if (username !== "" && (token !== "" || tokenFile !== ""))
    throw new Error("username/password or bearer token may be set, but not both");
  return {
    ...(await certificateOf(user)),
    ...(token !== "" && { token }),
    ...(tokenFile !== "" && { tokenFile }),
    ...(username !== "" && { basic: { username, password } }),
  };
}

/** A certificate without a key, or a key without a certificate, is not used. */
async function certificateOf(user: UserConfig): Promise<Pick<WebhookCredentials, "cert" | "key">> {
  const { "client-certificate": certFile, "client-key": keyFile } = user;
  const { "client-certificate-data": certData, "client-key-data": keyData } = user;
  if ((certData || certFile) === "" || (keyData || keyFile) === "") return {};
  const cert = certData || (await contentOfFile(certFile));
  const key = keyData || (await contentOfFile(keyFile));
  return { cert: cert as string, key: key as string };
}

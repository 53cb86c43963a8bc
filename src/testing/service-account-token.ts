/** Tokens of ServiceAccounts, as pods get them. */
import type { TestClients, TestServiceAccount } from "./contract.ts";
import { expectOk } from "./expect-ok.ts";

type Fetch = TestClients["fetch"];

const defaultExpirationSeconds = 3600;

/**
 * Creates a ServiceAccount unless it exists.
 *
 * @returns whether it is new
 * @throws TypeError when it has no name
 * @throws Error when the server rejects it
 */
export async function ensureServiceAccount(account: TestServiceAccount, fetch: Fetch): Promise<boolean> {
  const { serviceAccount: name } = account;
  if (typeof name !== "string" || name === "")
    throw new TypeError("a ServiceAccount needs a name: { serviceAccount: NAME }");
  const body = { metadata: { name } };
  const { reason } = await expectOk(fetch(collectionOf(account), { method: "POST", body }), 409);
  return reason !== "AlreadyExists";
}

/** Requests a token. @throws TypeError when the account has no name @throws Error when the server rejects it */
export async function tokenOf(account: TestServiceAccount, fetch: Fetch): Promise<{ token: string; user: string }> {
  const { serviceAccount: name, namespace = "default", expirationSeconds = defaultExpirationSeconds } = account;
  await ensureServiceAccount(account, fetch);
  const path = `${pathOf(account)}/token`;
  const { status } = await expectOk(fetch(path, { method: "POST", body: { spec: { expirationSeconds } } }));
  return { token: status.token, user: `system:serviceaccount:${namespace}:${name}` };
}

/** @returns the path of the object */
export function pathOf(account: TestServiceAccount): string {
  return `${collectionOf(account)}/${encodeURIComponent(account.serviceAccount)}`;
}

function collectionOf({ namespace = "default" }: TestServiceAccount): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts`;
}

/** Credentials of webhooks, compared with upstream's. Recorded by tools/golden/kubernetes/admission-config. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { goldenRows, inGoldenDirectory, messageOf } from "../../../test/support/golden-directory.ts";
import { readWebhookCredentials, withoutCredentials } from "./webhook-credentials.ts";

interface Row {
  readonly what: string;
  readonly kubeconfig?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly targets: readonly string[];
  readonly error?: string;
  readonly credentials?: readonly Credentials[];
}

interface Credentials {
  readonly error?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Upstream finds these contradictions when it creates the client. */
const laterErrors: Readonly<Record<string, string>> = {
  "a token and a password": "username/password or bearer token may be set, but not both",
};

for (const row of await goldenRows<Row>(join(import.meta.dirname, "testdata/credentials.jsonl"))) {
  test(`credentials of webhooks: ${row.what}`, () =>
    inGoldenDirectory(
      { files: { "cert.pem": "/dir/cert.pem", "key.pem": "/dir/key.pem", ...row.files } },
      async (directory) => {
        const file = join(directory, "kubeconfig");
        await writeFile(file, row.kubeconfig ?? "");
        let find = withoutCredentials;
        const read = async (): Promise<void> => {
          if (row.kubeconfig !== undefined) find = await readWebhookCredentials(file);
        };
        assert.equal(await messageOf(read, directory), row.error);
        for (const [index, credentials] of (row.credentials ?? []).entries()) {
          const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(row.targets[index] as string) as RegExpExecArray;
          const want = row.what in laterErrors ? { error: laterErrors[row.what] } : credentials;
          assert.deepEqual(await found(find, { host: host as string, port: Number(port) }, directory), expected(want));
        }
      },
    ));
}

/** A token from a file is trimmed, as upstream does with each token that it reads later. A password needs a user name. */
function expected({ token, password, ...rest }: Credentials): unknown {
  return {
    ...rest,
    ...(token !== undefined && { token: token.trim() }),
    ...(rest.username !== undefined && { password }),
  };
}

async function found(
  find: typeof withoutCredentials,
  address: { readonly host: string; readonly port: number },
  directory: string,
): Promise<unknown> {
  let result = {};
  const error = await messageOf(async () => {
    const { basic, ...rest } = await find(address);
    result = { ...rest, ...basic };
  }, directory);
  return error === undefined ? JSON.parse(JSON.stringify(result).replaceAll(directory, "/dir")) : { error };
}

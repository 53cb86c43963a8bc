/**
 * Kubeconfigs with an exec credential plugin, which the tests write: kubectl, client-node and
 * Coxswain's client run it.
 */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { AuthenticationV1Api, KubeConfig } from "@kubernetes/client-node";
import { authCommand } from "../../src/cli/auth/command.ts";
import { openClient } from "../../src/cli/client/client.ts";
import type { ExecEnvironment } from "../../src/cli/client/exec-credential.ts";
import { readKubeconfig } from "../../src/lib/kubeconfig/kubeconfig.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-exec-"));
/** The plugin appends the input of each run to it. */
const inputFile = join(directory, "input");
/** The plugin prints its content. */
const outputFile = join(directory, "output");
const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
const v1 = "client.authentication.k8s.io/v1";
const v1beta1 = "client.authentication.k8s.io/v1beta1";
const quiet: ExecEnvironment = { env: process.env, stdinIsTerminal: false, now: Date.now };

let server: TestServer;
let certificate: { clientCertificateData: string; clientKeyData: string };

before(async () => {
  writeFileSync(join(directory, "tokens.csv"), "good,ann,1,devs\n");
  writeFileSync(join(directory, "review.json"), JSON.stringify(review));
  writeFileSync(
    join(directory, "plugin"),
    `#!/bin/sh\nprintf '%s|%s|%s\\0' "$KUBERNETES_EXEC_INFO" "$GREETING" "$*" >>${inputFile}\ncat ${outputFile}\n`,
  );
  chmodSync(join(directory, "plugin"), 0o755);
  writeFileSync(join(directory, "fails"), "#!/bin/sh\nexit 3\n");
  chmodSync(join(directory, "fails"), 0o755);
  server = await startTestServer({ tokenAuthFile: join(directory, "tokens.csv") });
  const { kubeconfig } = await server.as("bob");
  certificate = {
    clientCertificateData: field(kubeconfig, "client-certificate-data"),
    clientKeyData: field(kubeconfig, "client-key-data"),
  };
});
after(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => writeFileSync(inputFile, ""));

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** @returns the path of the kubeconfig */
function kubeconfigWith(user: object, cluster: object = {}): string {
  const ca = base64(field(server.kubeconfig, "certificate-authority-data"));
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "x",
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: server.url, "certificate-authority-data": ca, ...cluster } }],
    users: [{ name: "u", user }],
  };
  const file = join(directory, "kubeconfig");
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const plugin = (more: object = {}): object => ({
  exec: { command: "./plugin", apiVersion: v1, interactiveMode: "Never", ...more },
});
const prints = (status: object | undefined, apiVersion = v1): void => {
  writeFileSync(outputFile, JSON.stringify({ apiVersion, kind: "ExecCredential", ...(status && { status }) }));
};

const isFull = process.env.COXSWAIN_TEST_FULL === "1";

/** Sends a request with the kubeconfig. @returns the name of the user, or the status or error */
type AskUserName = (file: string) => Promise<string>;

const withOwnClient: AskUserName = async (file) => {
  try {
    const client = await openClient(await readKubeconfig(file), { environment: quiet });
    const { status, body } = await client.send({ method: "POST", path: reviews, body: review });
    client.close();
    return status === 201 ? JSON.parse(body.toString()).status.userInfo.username : String(status);
  } catch (error) {
    return (error as Error).message;
  }
};
const withKubectl =
  (kubectl: string): AskUserName =>
  async (file) => {
    const args = ["create", "--raw", reviews, "-f", join(directory, "review.json")];
    const { code, output } = await runKubectl(kubectl, args, { directory, kubeconfigPath: file });
    return code === 0
      ? JSON.parse(output).status.userInfo.username
      : output.replace("error: You must be logged in to the server (", "401 ");
  };

interface Row {
  readonly what: string;
  readonly user: () => object;
  readonly cluster?: object;
  readonly prints?: () => void;
  readonly expected: string | RegExp;
}
const rows: Row[] = [
  { what: "authenticates with a token", user: plugin, prints: () => prints({ token: "good" }), expected: "ann" },
  {
    what: "authenticates with a token of a v1beta1 plugin without interactiveMode",
    user: () => plugin({ apiVersion: v1beta1, interactiveMode: undefined }),
    prints: () => prints({ token: "good" }, v1beta1),
    expected: "ann",
  },
  {
    what: "passes arguments, variables, and the cluster with an extension to the plugin",
    user: () =>
      plugin({
        args: ["a", "b c"],
        env: [{ name: "GREETING", value: "hello" }],
        provideClusterInfo: true,
        interactiveMode: "IfAvailable",
      }),
    cluster: {
      "tls-server-name": "localhost",
      extensions: [
        { name: "client.authentication.k8s.io/exec", extension: { audience: "<x>", deep: { list: [1, null] } } },
      ],
    },
    prints: () => prints({ token: "good" }),
    expected: "ann",
  },
  { what: "authenticates with a certificate", user: plugin, prints: () => prints(certificate), expected: "bob" },
  {
    what: "uses a token once when it has expired",
    user: plugin,
    prints: () => prints({ token: "good", expirationTimestamp: "2020-01-01T00:00:00Z" }),
    expected: "ann",
  },
  {
    what: "reads a credential in YAML",
    user: plugin,
    prints: () => writeFileSync(outputFile, `apiVersion: ${v1}\nkind: ExecCredential\nstatus:\n  token: good\n`),
    expected: "ann",
  },
  { what: "gets 401 for a wrong token", user: plugin, prints: () => prints({ token: "bad" }), expected: /^401/ },
  {
    what: "prefers a token of the kubeconfig",
    user: () => ({ ...plugin(), token: "good" }),
    prints: () => prints({ token: "bad" }),
    expected: "ann",
  },
  {
    what: "reports a credential of another version",
    user: plugin,
    prints: () => prints({ token: "good" }, v1beta1),
    expected:
      /getting credentials: exec plugin is configured to use API version client\.authentication\.k8s\.io\/v1, plugin returned version client\.authentication\.k8s\.io\/v1beta1$/,
  },
  {
    what: "reports a credential without a status",
    user: plugin,
    prints: () => prints(undefined),
    expected: /getting credentials: exec plugin didn't return a status field$/,
  },
  {
    what: "reports a credential with an empty status",
    user: plugin,
    prints: () => prints({}),
    expected: /getting credentials: exec plugin didn't return a token or cert\/key pair$/,
  },
  {
    what: "reports a certificate without a key",
    user: plugin,
    prints: () => prints({ clientCertificateData: certificate.clientCertificateData }),
    expected: /getting credentials: exec plugin returned only certificate or key, not both$/,
  },
  {
    what: "reports output that is not an object",
    user: plugin,
    prints: () => writeFileSync(outputFile, "no object"),
    expected: /getting credentials: decoding stdout: couldn't get version\/kind; /,
  },
  {
    what: "reports a plugin that fails",
    user: () => plugin({ command: "./fails" }),
    expected: new RegExp(`getting credentials: exec: executable ${directory}/fails failed with exit code 3$`),
  },
  {
    what: "reports a plugin that does not exist",
    user: () => plugin({ command: "coxswain-no-such-plugin", installHint: "Install \u001b[1mit." }),
    expected:
      /getting credentials: exec: executable coxswain-no-such-plugin not found\n\nIt looks like you are trying to use a client-go credential plugin that is not installed\.[\s\S]*\n\nInstall .*it\.$/,
  },
  {
    what: "reports an interactive plugin without a terminal",
    user: () => plugin({ interactiveMode: "Always" }),
    expected: /exec plugin cannot support interactive mode: standard input is not a terminal$/,
  },
  {
    what: "reports a v1 plugin without interactiveMode",
    user: () => plugin({ interactiveMode: undefined }),
    expected: /interactiveMode must be specified for u to use exec authentication plugin$/,
  },
  {
    what: "reports an unknown interactiveMode",
    user: () => plugin({ interactiveMode: "Maybe" }),
    expected: /invalid interactiveMode for u: "Maybe"$/,
  },
  {
    what: "reports a plugin without a command",
    user: () => plugin({ command: "" }),
    expected: /command must be specified for u to use exec authentication plugin$/,
  },
  {
    what: "reports an unknown version",
    user: () => plugin({ apiVersion: "client.authentication.k8s.io/v9" }),
    expected: /exec plugin: invalid apiVersion "client\.authentication\.k8s\.io\/v9"$/,
  },
];

function assertIs(answer: string, expected: string | RegExp): void {
  if (typeof expected === "string") assert.equal(answer, expected);
  else assert.match(answer, expected);
}

/**
 * The input of the plugin by row, from the first client; the input of the others must be the same.
 */
const firstInputs = new Map<string, string>();
for (const [name, askUserName] of [
  ["Coxswain's client", withOwnClient] as const,
  ...kubectls().map((kubectl) => [kubectl.split("/").at(-1) as string, withKubectl(kubectl)] as const),
]) {
  describe(name, () => {
    for (const { what, user, cluster, prints: print, expected } of rows) {
      // kubectl reports these errors by itself, and sends no request.
      if (!isFull && askUserName !== withOwnClient && what.startsWith("reports ")) continue;
      test(what, async () => {
        print?.();
        assertIs(await askUserName(kubeconfigWith(user(), cluster)), expected);
        // Some clients run the plugin again when the credentials have expired.
        const input = [...new Set(readFileSync(inputFile, "utf8").split("\0"))].join("\n");
        const first = firstInputs.get(what);
        if (first === undefined) firstInputs.set(what, input);
        else assert.equal(input, first);
      });
    }
  });
}

/** @returns the name of the user, or the status, for each request of one client */
async function askRepeatedly(
  times: number,
  { now = Date.now, between }: { now?: () => number; between?: () => void } = {},
): Promise<string[]> {
  const client = await openClient(await readKubeconfig(kubeconfigWith(plugin())), { environment: { ...quiet, now } });
  const answers: string[] = [];
  for (let time = 0; time < times; time++) {
    const { status, body } = await client.send({ method: "POST", path: reviews, body: review });
    answers.push(status === 201 ? JSON.parse(body.toString()).status.userInfo.username : String(status));
    between?.();
  }
  client.close();
  return answers;
}
const runs = (): number => readFileSync(inputFile, "utf8").split("ExecCredential").length - 1;

test("Coxswain's client caches credentials until they expire", async () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  prints({ token: "good", expirationTimestamp: "2030-01-01T00:00:30Z" });
  let passed = 0;
  assert.deepEqual(await askRepeatedly(3, { now: () => now + passed, between: () => (passed += 20_000) }), [
    "ann",
    "ann",
    "ann",
  ]);
  assert.equal(runs(), 2);
});

test("Coxswain's client caches credentials without an expiry until the server answers 401, and reconnects with a changed certificate", async () => {
  prints({ token: "bad" });
  let step = 0;
  const answers = await askRepeatedly(4, {
    between: () => [prints({ token: "good" }), prints(certificate), prints({ token: "good" })][step++],
  });
  assert.deepEqual([answers, runs()], [["401", "401", "ann", "ann"], 3]);
  writeFileSync(inputFile, "");
  let passed = 0;
  prints({ ...certificate, expirationTimestamp: "2030-01-01T00:00:00Z" });
  const now = (): number => Date.parse("2030-01-01T00:00:00Z") + passed;
  const changed = await askRepeatedly(2, {
    now,
    between() {
      passed = 1;
      prints({ token: "good" });
    },
  });
  assert.deepEqual([changed, runs()], [["bob", "ann"], 2]);
});

test("client-node authenticates with a token and with a certificate of a plugin", async () => {
  const whoIs = async (): Promise<string | undefined> => {
    const config = new KubeConfig();
    config.loadFromFile(
      kubeconfigWith({ exec: { command: join(directory, "plugin"), apiVersion: v1, interactiveMode: "Never" } }),
    );
    const { status } = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    return status?.userInfo?.username;
  };
  prints({ token: "good" });
  assert.equal(await whoIs(), "ann");
  prints(certificate);
  assert.equal(await whoIs(), "bob");
});

const kubeconfigUsers: [what: string, user: () => object, expected: string | RegExp][] = [
  [
    "a certificate",
    () => ({
      "client-certificate-data": base64(certificate.clientCertificateData),
      "client-key-data": base64(certificate.clientKeyData),
    }),
    "bob",
  ],
  [
    "files with a certificate and a key",
    () => ({ "client-certificate": "files/bob.crt", "client-key": "files/bob.key" }),
    "bob",
  ],
  ["a token", () => ({ token: "good" }), "ann"],
  ["a file with a token", () => ({ tokenFile: "files/token" }), "ann"],
  // The server does not support basic authentication: the request is anonymous.
  [
    "a name and a password",
    () => ({ username: "ann", password: "good" }),
    /^403|User "system:anonymous" cannot create/,
  ],
  ["no credentials", () => ({}), /^403|cannot create/],
  ["a user to impersonate without permission", () => ({ token: "good", as: "eve" }), /^403|cannot impersonate/],
  [
    "more than one credential",
    () => ({ token: "good", username: "ann" }),
    /more than one authentication method found for u; found \[token basicAuth\], only one is allowed$/,
  ],
];
describe("Coxswain's client and kubectl send the same credentials, from a kubeconfig with", () => {
  before(() => {
    mkdirSync(join(directory, "files"));
    writeFileSync(join(directory, "files/bob.crt"), certificate.clientCertificateData);
    writeFileSync(join(directory, "files/bob.key"), certificate.clientKeyData);
    writeFileSync(join(directory, "files/token"), "good\n");
  });
  for (const [what, user, expected] of kubeconfigUsers) {
    test(what, async () => {
      const file = kubeconfigWith(user());
      assertIs(await withOwnClient(file), expected);
      if (what === "no credentials") return; // kubectl prompts for a user name.
      for (const kubectl of kubectls()) assertIs(await withKubectl(kubectl)(file), expected);
    });
  }
});

test("the plugin is interactive if its mode and the terminal allow it", async () => {
  prints({ token: "good" });
  const rows = [
    ["Never", true, false],
    ["IfAvailable", true, true],
    ["IfAvailable", false, false],
    ["Always", true, true],
  ] as const;
  for (const [interactiveMode, stdinIsTerminal, expected] of rows) {
    writeFileSync(inputFile, "");
    const client = await openClient(await readKubeconfig(kubeconfigWith(plugin({ interactiveMode }))), {
      environment: { ...quiet, stdinIsTerminal },
    });
    assert.equal((await client.send({ method: "GET", path: "/version" })).status, 200);
    client.close();
    assert.match(
      readFileSync(inputFile, "utf8"),
      new RegExp(`"interactive":${expected}`),
      `${interactiveMode} ${stdinIsTerminal}`,
    );
  }
});

test("impersonates a user with uid, groups and extra values", async () => {
  const [cert, key] = ["client-certificate-data", "client-key-data"].map((name) =>
    base64(field(server.kubeconfig, name)),
  );
  const as = {
    as: "eve",
    "as-uid": "7",
    "as-groups": ["a", "b"],
    "as-user-extra": { "example.com/Ünder_%": ["1", "2"], scopes: ["x"] },
  };
  const file = kubeconfigWith({ "client-certificate-data": cert, "client-key-data": key, ...as });
  const client = await openClient(await readKubeconfig(file), { environment: quiet });
  const { status, body } = await client.send({ method: "POST", path: reviews, body: review });
  client.close();
  assert.equal(status, 201, body.toString());
  assert.deepEqual(JSON.parse(body.toString()).status.userInfo, {
    username: "eve",
    uid: "7",
    groups: ["a", "b", "system:authenticated"],
    extra: { "example.com/Ünder_%": ["1", "2"], scopes: ["x"] },
  });
});

test("coxswain auth explain runs the plugin once and names its user", async () => {
  prints({ token: "good" });
  const file = kubeconfigWith(plugin());
  const output: string[] = [];
  const write = (text: string): void => void output.push(text);
  const code = await authCommand.run(
    ["explain", "get", "/version"],
    { out: write, err: write },
    { PATH: process.env.PATH, KUBECONFIG: file },
  );
  assert.deepEqual([code, runs()], [0, 1], output.join(""));
  assert.match(output.join(""), /^User "ann"/);
});

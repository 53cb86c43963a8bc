/** Kubeconfigs whose user is whom a program says: kubectl, client-node and our own client, with a program that the test writes. */
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
const asked = join(directory, "asked");
const printed = join(directory, "printed");
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
  // Tells what it was told, and prints what it was given.
  writeFileSync(
    join(directory, "plugin"),
    `#!/bin/sh\nprintf '%s|%s|%s\\0' "$KUBERNETES_EXEC_INFO" "$GREETING" "$*" >>${asked}\ncat ${printed}\n`,
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
beforeEach(() => writeFileSync(asked, ""));

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** @returns the file */
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
  writeFileSync(printed, JSON.stringify({ apiVersion, kind: "ExecCredential", ...(status && { status }) }));
};

type WhoIs = (file: string) => Promise<string>;

/** The name of the user, or what went wrong. */
const ours: WhoIs = async (file) => {
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
  (kubectl: string): WhoIs =>
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
  readonly want: string | RegExp;
}
const rows: Row[] = [
  { what: "a token", user: plugin, prints: () => prints({ token: "good" }), want: "ann" },
  {
    what: "v1beta1, which need not say whether it asks",
    user: () => plugin({ apiVersion: v1beta1, interactiveMode: undefined }),
    prints: () => prints({ token: "good" }, v1beta1),
    want: "ann",
  },
  {
    what: "arguments, variables, and the cluster with an extension",
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
    want: "ann",
  },
  { what: "a certificate", user: plugin, prints: () => prints(certificate), want: "bob" },
  {
    what: "a token that has expired already is used once",
    user: plugin,
    prints: () => prints({ token: "good", expirationTimestamp: "2020-01-01T00:00:00Z" }),
    want: "ann",
  },
  {
    what: "YAML",
    user: plugin,
    prints: () => writeFileSync(printed, `apiVersion: ${v1}\nkind: ExecCredential\nstatus:\n  token: good\n`),
    want: "ann",
  },
  { what: "a wrong token", user: plugin, prints: () => prints({ token: "bad" }), want: /^401/ },
  {
    what: "a token of the kubeconfig goes before",
    user: () => ({ ...plugin(), token: "good" }),
    prints: () => prints({ token: "bad" }),
    want: "ann",
  },
  {
    what: "another version",
    user: plugin,
    prints: () => prints({ token: "good" }, v1beta1),
    want: /getting credentials: exec plugin is configured to use API version client\.authentication\.k8s\.io\/v1, plugin returned version client\.authentication\.k8s\.io\/v1beta1$/,
  },
  {
    what: "no status",
    user: plugin,
    prints: () => prints(undefined),
    want: /getting credentials: exec plugin didn't return a status field$/,
  },
  {
    what: "nothing in it",
    user: plugin,
    prints: () => prints({}),
    want: /getting credentials: exec plugin didn't return a token or cert\/key pair$/,
  },
  {
    what: "a certificate without a key",
    user: plugin,
    prints: () => prints({ clientCertificateData: certificate.clientCertificateData }),
    want: /getting credentials: exec plugin returned only certificate or key, not both$/,
  },
  {
    what: "something else",
    user: plugin,
    prints: () => writeFileSync(printed, "no object"),
    want: /getting credentials: decoding stdout: couldn't get version\/kind; /,
  },
  {
    what: "a program that fails",
    user: () => plugin({ command: "./fails" }),
    want: new RegExp(`getting credentials: exec: executable ${directory}/fails failed with exit code 3$`),
  },
  {
    what: "a program that is not there",
    user: () => plugin({ command: "coxswain-no-such-plugin", installHint: "Install \u001b[1mit." }),
    want: /getting credentials: exec: executable coxswain-no-such-plugin not found\n\nIt looks like you are trying to use a client-go credential plugin that is not installed\.[\s\S]*\n\nInstall .*it\.$/,
  },
  {
    what: "a program that must ask, where nobody is",
    user: () => plugin({ interactiveMode: "Always" }),
    want: /exec plugin cannot support interactive mode: standard input is not a terminal$/,
  },
  {
    what: "no mode in v1",
    user: () => plugin({ interactiveMode: undefined }),
    want: /interactiveMode must be specified for u to use exec authentication plugin$/,
  },
  {
    what: "a mode nobody knows",
    user: () => plugin({ interactiveMode: "Maybe" }),
    want: /invalid interactiveMode for u: "Maybe"$/,
  },
  {
    what: "no command",
    user: () => plugin({ command: "" }),
    want: /command must be specified for u to use exec authentication plugin$/,
  },
  {
    what: "a version nobody knows",
    user: () => plugin({ apiVersion: "client.authentication.k8s.io/v9" }),
    want: /exec plugin: invalid apiVersion "client\.authentication\.k8s\.io\/v9"$/,
  },
];

function assertIs(answer: string, want: string | RegExp): void {
  if (typeof want === "string") assert.equal(answer, want);
  else assert.match(answer, want);
}

/** What the plugin was told by each client, which is to be the same. */
const told = new Map<string, string>();
for (const [name, whoIs] of [
  ["our client", ours] as const,
  ...kubectls().map((kubectl) => [kubectl.split("/").at(-1) as string, withKubectl(kubectl)] as const),
]) {
  describe(name, () => {
    for (const { what, user, cluster, prints: print, want } of rows) {
      test(what, async () => {
        print?.();
        assertIs(await whoIs(kubeconfigWith(user(), cluster)), want);
        const words = [...new Set(readFileSync(asked, "utf8").split("\0"))].join("\n"); // Some ask twice of what has expired.
        const first = told.get(what);
        if (first === undefined) told.set(what, words);
        else assert.equal(words, first);
      });
    }
  });
}

/** The name of the user, for each of so many requests of one client. */
async function ask(
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
const runs = (): number => readFileSync(asked, "utf8").split("ExecCredential").length - 1;

test("credentials are kept until they expire", async () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  prints({ token: "good", expirationTimestamp: "2030-01-01T00:00:30Z" });
  let passed = 0;
  assert.deepEqual(await ask(3, { now: () => now + passed, between: () => (passed += 20_000) }), ["ann", "ann", "ann"]);
  assert.equal(runs(), 2);
});

test("without an end, until the server refuses them; a changed certificate is shown in a new handshake", async () => {
  prints({ token: "bad" });
  let step = 0;
  const answers = await ask(4, {
    between: () => [prints({ token: "good" }), prints(certificate), prints({ token: "good" })][step++],
  });
  assert.deepEqual([answers, runs()], [["401", "401", "ann", "ann"], 3]);
  writeFileSync(asked, "");
  let passed = 0;
  prints({ ...certificate, expirationTimestamp: "2030-01-01T00:00:00Z" });
  const now = (): number => Date.parse("2030-01-01T00:00:00Z") + passed;
  const changed = await ask(2, {
    now,
    between() {
      passed = 1;
      prints({ token: "good" });
    },
  });
  assert.deepEqual([changed, runs()], [["bob", "ann"], 2]);
});

test("client-node", async () => {
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

const kinds: [what: string, user: () => object, want: string | RegExp][] = [
  [
    "a certificate",
    () => ({
      "client-certificate-data": base64(certificate.clientCertificateData),
      "client-key-data": base64(certificate.clientKeyData),
    }),
    "bob",
  ],
  ["files of a certificate", () => ({ "client-certificate": "files/bob.crt", "client-key": "files/bob.key" }), "bob"],
  ["a token", () => ({ token: "good" }), "ann"],
  ["a file with a token", () => ({ tokenFile: "files/token" }), "ann"],
  // Nobody here knows passwords: such a request is anonymous.
  [
    "a name and a password",
    () => ({ username: "ann", password: "good" }),
    /^403|User "system:anonymous" cannot create/,
  ],
  ["nothing", () => ({}), /^403|cannot create/],
  ["somebody to act as", () => ({ token: "good", as: "eve" }), /^403|cannot impersonate/],
  [
    "more than one",
    () => ({ token: "good", username: "ann" }),
    /more than one authentication method found for u; found \[token basicAuth\], only one is allowed$/,
  ],
];
describe("a kubeconfig with each kind of credential", () => {
  before(() => {
    mkdirSync(join(directory, "files"));
    writeFileSync(join(directory, "files/bob.crt"), certificate.clientCertificateData);
    writeFileSync(join(directory, "files/bob.key"), certificate.clientKeyData);
    writeFileSync(join(directory, "files/token"), "good\n");
  });
  for (const [what, user, want] of kinds) {
    test(what, async () => {
      const file = kubeconfigWith(user());
      assertIs(await ours(file), want);
      if (what === "nothing") return; // Then kubectl asks for a name.
      for (const kubectl of kubectls()) assertIs(await withKubectl(kubectl)(file), want);
    });
  }
});

test("whether somebody may be asked, by mode and terminal", async () => {
  prints({ token: "good" });
  const rows = [
    ["Never", true, false],
    ["IfAvailable", true, true],
    ["IfAvailable", false, false],
    ["Always", true, true],
  ] as const;
  for (const [interactiveMode, stdinIsTerminal, want] of rows) {
    writeFileSync(asked, "");
    const client = await openClient(await readKubeconfig(kubeconfigWith(plugin({ interactiveMode }))), {
      environment: { ...quiet, stdinIsTerminal },
    });
    assert.equal((await client.send({ method: "GET", path: "/version" })).status, 200);
    client.close();
    assert.match(
      readFileSync(asked, "utf8"),
      new RegExp(`"interactive":${want}`),
      `${interactiveMode} ${stdinIsTerminal}`,
    );
  }
});

test("in somebody's name, with everything that belongs to it", async () => {
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

test("coxswain auth explain asks the program once, as whom it says we are", async () => {
  prints({ token: "good" });
  const file = kubeconfigWith(plugin());
  const told: string[] = [];
  const write = (words: string): void => void told.push(words);
  const code = await authCommand(
    ["explain", "get", "/version"],
    { out: write, err: write },
    { PATH: process.env.PATH, KUBECONFIG: file },
  );
  assert.deepEqual([code, runs()], [0, 1], told.join(""));
  assert.match(told.join(""), /^User "ann"/);
});

/**
 * Authorization webhooks over TLS: their decisions, their failures, and configuration files that
 * change.
 */
import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Clock, systemClock } from "../../src/apimachinery/clock.ts";
import type { Logger } from "../../src/apimachinery/logger.ts";
import { type ServerOptions, startServer } from "../../src/index.ts";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";
import {
  startWebhookServer,
  type WebhookReply,
  type WebhookRequest,
  type WebhookServer,
} from "../support/webhook-server.ts";

const reviews = "/apis/authorization.k8s.io/v1";
const kind = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** @param user lines of the kubeconfig */
function kubeconfigOf(webhook: Pick<WebhookServer, "url" | "ca">, user = "token: secret"): string {
  return `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: w, user: u}}]
clusters: [{name: w, cluster: {server: "${webhook.url}/authorize", certificate-authority-data: ${base64(webhook.ca)}}}]
users:
- name: u
  user: {${user}}
`;
}

/** @param rest lines that follow the webhook's */
function webhookLines(name: string, file: string, failurePolicy: string, rest: readonly string[] = []): string {
  return `- type: Webhook
  name: ${name}
  webhook:
    timeout: 400ms
    subjectAccessReviewVersion: v1
    failurePolicy: ${failurePolicy}
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: "${file}"}
${rest.map((line) => `    ${line}\n`).join("")}`;
}

const configuration = (...authorizers: string[]): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n${authorizers.join("")}`;
const rbac = "- {type: RBAC, name: rbac}\n";
const node = "- {type: Node, name: node}\n";

/** Pauses between attempts and between checks of a file are fifty times shorter. */
const hastyClock: Clock = {
  now: systemClock.now,
  after: (ms, run) => systemClock.after(ms <= 10_000 ? ms / 50 : ms, run),
};

interface Place {
  readonly url: string;
  /** In system:masters. */
  readonly admin: RawClient;
  readonly ann: RawClient;
  readonly logged: readonly string[];
}

const open: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of open.reverse()) await close();
});

/** Creates a directory that is removed at the end. */
function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-webhooks-"));
  open.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function webhookAnswering(
  reply: (request: WebhookRequest) => WebhookReply,
  options = {},
): Promise<WebhookServer> {
  const webhook = await startWebhookServer(reply, options);
  open.push(() => webhook.close());
  return webhook;
}

async function serverWith(options: Partial<ServerOptions>): Promise<Place> {
  const logged: string[] = [];
  const log: Logger["info"] = (message, values) =>
    logged.push(values?.error === undefined ? message : `${message}: ${values.error}`);
  const server = await startTestServer({ clock: hastyClock, logger: { info: log, warn: log, error: log }, ...options });
  const ann = rawClient((await server.as("ann", ["dev"])).kubeconfig);
  const admin = rawClient(server.kubeconfig);
  open.push(
    () => server.close(),
    () => ann.close(),
    () => admin.close(),
  );
  return { url: server.url, admin, ann, logged };
}

/** The samples of one metric, a line each. */
async function metricOf({ admin }: Place, name: string): Promise<string[]> {
  const { text } = await admin.send({ path: "/metrics" });
  return text.split("\n").filter((line) => line.startsWith(`${name}{`));
}

const status = (answer: object): object => ({ ...kind, status: answer });
const asked = { resourceAttributes: { namespace: "default", verb: "list", resource: "pods" } };

/** The decision that ann's own review reports. */
async function mayI({ ann }: Place, spec: object): Promise<unknown> {
  return (await ann.send({ method: "POST", path: `${reviews}/selfsubjectaccessreviews`, body: { spec } })).body.status;
}

/**
 * The decision that a review by an administrator reports. Webhooks do not restrict administrators.
 */
async function mayAnn({ admin }: Place, spec: object = asked): Promise<ReviewStatus> {
  const body = { spec: { ...spec, user: "ann", groups: ["dev", "system:authenticated"] } };
  return (await admin.send({ method: "POST", path: `${reviews}/subjectaccessreviews`, body })).body.status;
}

interface ReviewStatus {
  readonly allowed: boolean;
  readonly evaluationError?: string;
}

describe("the mode Webhook", () => {
  let place: Place;
  let webhook: WebhookServer;

  before(async () => {
    const authority = await createAuthority({
      subject: { commonName: "callers" },
      notBefore: Date.now() - 1000,
      notAfter: Date.now() + 3_600_000,
    });
    const subject = {
      subject: { commonName: "api server" },
      usage: "client",
      names: [],
      notBefore: Date.now() - 1000,
    } as const;
    const caller = await issueCertificate(authority, { ...subject, notAfter: Date.now() + 3_600_000 });
    webhook = await webhookAnswering(
      ({ body: { spec } }) => {
        const { verb, name } = spec.resourceAttributes ?? spec.nonResourceAttributes;
        const allowed = verb === "get" || verb === "create";
        return {
          apiVersion: "authorization.k8s.io/v1beta1",
          kind: "SubjectAccessReview",
          status: { allowed, denied: name === "x", reason: `said ${verb}` },
        };
      },
      { tls: { requestCert: true, rejectUnauthorized: true, ca: authority.cert } },
    );
    const file = join(newDirectory(), "webhook");
    writeFileSync(
      file,
      kubeconfigOf(webhook, `client-certificate-data: ${base64(caller.cert)}, client-key-data: ${base64(caller.key)}`),
    );
    place = await serverWith({
      authorizationModes: ["Webhook"],
      authorization: { configFile: undefined, webhook: { configFile: file } },
    });
  });

  test("requests that the webhook does not allow are forbidden with its reason", async () => {
    const { ann } = place;
    assert.equal(
      (await ann.send({ path: "/api/v1/namespaces/default/configmaps/kube-root-ca.crt?fieldSelector=a" })).status,
      404,
    );
    const forbidden = await ann.send({ path: "/api/v1/pods?fieldSelector=spec.nodeName%3Dn&labelSelector=a+in+(b)" });
    assert.equal(forbidden.status, 403);
    assert.equal(
      forbidden.body.message,
      'pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the cluster scope: said list',
    );
    const { path, headers, text } = webhook.requests.at(-1) as WebhookRequest;
    assert.deepEqual([path, headers["content-type"]], ["/authorize?timeout=30s", "application/json"]);
    assert.deepEqual(JSON.parse(text), {
      apiVersion: "authorization.k8s.io/v1beta1",
      kind: "SubjectAccessReview",
      metadata: {},
      spec: {
        resourceAttributes: {
          verb: "list",
          version: "v1",
          resource: "pods",
          fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n"] }] },
          labelSelector: { requirements: [{ key: "a", operator: "In", values: ["b"] }] },
        },
        user: "ann",
        group: ["dev", "system:authenticated"],
        extra: JSON.parse(text).spec.extra,
      },
      status: { allowed: false },
    });
  });

  test("the webhook is not called for system:masters, nor twice for the same request", async () => {
    const before = webhook.requests.length;
    assert.equal((await place.admin.send({ path: "/api/v1/pods" })).status, 200);
    assert.equal(webhook.requests.length, before);
    for (const _ of "abc") assert.equal((await place.ann.send({ path: "/openapi/v3" })).status, 200);
    assert.equal(webhook.requests.length, before + 1);
  });

  test("access reviews report the webhook's reasons", async () => {
    const of = (verb: string, name = ""): object => ({ resourceAttributes: { verb, name, resource: "pods" } });
    assert.deepEqual(await mayI(place, of("get")), { allowed: true, reason: "said get" });
    assert.deepEqual(await mayI(place, of("list")), { allowed: false, reason: "said list" });
    assert.deepEqual(await mayI(place, of("list", "x")), { allowed: false, denied: true, reason: "said list" });
    const evaluationError = "webhook subject access review returned both allow and deny response";
    assert.deepEqual(await mayI(place, of("get", "x")), {
      allowed: false,
      denied: true,
      reason: "said get",
      evaluationError,
    });
  });

  test("rules reviews report that the webhook's rules cannot be listed", async () => {
    const { body } = await place.ann.send({
      method: "POST",
      path: `${reviews}/selfsubjectrulesreviews`,
      body: { spec: { namespace: "default" } },
    });
    assert.deepEqual(body.status, {
      resourceRules: null,
      nonResourceRules: null,
      incomplete: true,
      evaluationError: "webhook authorizer does not support user rule resolution",
    });
  });

  test("metrics count decisions", async () => {
    const [allowed, denied] = await metricOf(place, "apiserver_authorization_decisions_total");
    assert.match(allowed as string, /\{decision="allowed",name="default",type="Webhook"\} \d+$/);
    assert.match(denied as string, /\{decision="denied",name="default",type="Webhook"\} \d+$/);
    assert.match(
      (await metricOf(place, "apiserver_authorization_webhook_evaluations_total")).join(),
      /\{name="default",result="success"\} \d+$/,
    );
    const attempts = (await metricOf(place, "authorization_attempts_total")).map(
      (line) => /result="([^"]+)"/.exec(line)?.[1],
    );
    assert.deepEqual(attempts, ["allowed", "no-opinion"]);
  });
});

describe("a failing webhook", () => {
  const places = new Map<"Deny" | "NoOpinion", Place>();
  let reply: WebhookReply = {};
  let webhook: WebhookServer;

  before(async () => {
    webhook = await webhookAnswering(() => reply);
    const directory = newDirectory();
    const kubeconfig = join(directory, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigOf(webhook));
    const uncached = ["cacheAuthorizedRequests: false", "cacheUnauthorizedRequests: false"];
    for (const policy of ["Deny", "NoOpinion"] as const) {
      const file = join(directory, policy);
      writeFileSync(file, configuration(webhookLines("w", kubeconfig, policy, uncached), rbac));
      places.set(policy, await serverWith({ authorization: { configFile: file, webhook: {} } }));
    }
  });

  const answering = (code: number, text: string, headers: Record<string, string> = {}): WebhookReply => {
    return (response) => response.writeHead(code, headers).end(text);
  };
  const cannot =
    "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct";
  const rows: [what: string, reply: WebhookReply, error: string | RegExp, result: "error" | "timeout"][] = [
    [
      "does not answer",
      () => {},
      /^Post "https:.*\/authorize\?timeout=400ms": (?:context deadline exceeded|.*Client.Timeout exceeded)/,
      "timeout",
    ],
    [
      "sends an incomplete answer",
      (response) => response.writeHead(200, { "content-length": "100" }).write("{"),
      /context deadline exceeded|Client.Timeout/,
      "timeout",
    ],
    ["closes the connection", (response) => response.destroy(), /EOF|connection reset/, "error"],
    [
      "answers with text that is not an object",
      "nonsense",
      new RegExp(`^${cannot.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`),
      "error",
    ],
    [
      "sends an empty answer",
      answering(200, ""),
      "0-length response with status code: 200 and content type: application/json",
      "error",
    ],
    [
      "answers with another kind",
      { apiVersion: "v1", kind: "Pod", status: { allowed: true } },
      "converting (v1.Pod) to (v1.SubjectAccessReview): unknown conversion",
      "error",
    ],
    [
      "answers with fields of other types",
      status({ allowed: "yes" }),
      "json: cannot unmarshal string into Go struct field SubjectAccessReviewStatus.status.allowed of type bool",
      "error",
    ],
    [
      "fails",
      answering(500, "oops", { "content-type": "text/plain" }),
      'an error on the server ("oops") has prevented the request from succeeding',
      "error",
    ],
    ["answers 401", answering(401, ""), "the server has asked for the client to provide credentials", "error"],
    [
      "redirects",
      answering(302, "", { location: "/elsewhere" }),
      'Post "/elsewhere": stopped after 10 redirects',
      "error",
    ],
    [
      "answers without end",
      answering(200, JSON.stringify({ ...status({ allowed: true }), x: "x".repeat(1 << 20) })),
      "the response of the webhook is larger than 1048576 bytes",
      "error",
    ],
  ];

  for (const [what, bad, error, result] of rows) {
    for (const policy of ["Deny", "NoOpinion"] as const) {
      test(`failure policy ${policy} applies when the webhook ${what}`, async () => {
        reply = bad;
        const place = places.get(policy) as Place;
        // On a busy machine a call may time out.
        await until(async () => {
          const { evaluationError = "", ...review } = await mayAnn(place);
          assert.deepEqual(review, { allowed: false, ...(policy === "Deny" && { denied: true }) });
          if (typeof error === "string") assert.equal(evaluationError, error);
          else assert.match(evaluationError, error);
        });

        // RBAC decides only if a failure of the webhook is no decision.
        const allowed = await place.ann.send({ path: "/healthz" });
        assert.equal(allowed.status, policy === "Deny" ? 500 : 200);
        const failed = await place.ann.send({ path: "/api/v1/pods?a=<b>" });
        assert.equal(failed.status, 500);
        assert.equal(failed.headers["content-type"], "text/plain; charset=utf-8");
        assert.match(failed.text, /^Internal Server Error: "\/api\/v1\/pods\?a=(?:&lt;b&gt;|%3Cb%3E)": /);
        const failedOpen = (
          await metricOf(place, "apiserver_authorization_webhook_evaluations_fail_open_total")
        ).join();
        if (policy === "Deny") assert.equal(failedOpen, "");
        else assert.match(failedOpen, new RegExp(`\\{name="w",result="${result}"\\} \\d+`));
        assert.match(place.logged.join("\n"), /Failed to make webhook authorizer request: /);
      });
    }
  }

  /**
   * Sends a request and closes its connection once the webhook is called. Resolves when the call is
   * canceled.
   */
  async function askAndLeave({ url }: Place): Promise<void> {
    await new Promise<void>((resolve) => {
      const request = https.get(`${url}/healthz`, { rejectUnauthorized: false }).on("error", () => {});
      reply = (response) => {
        response.on("close", resolve);
        request.destroy();
      };
    });
  }

  test("the call is canceled when the client closes its connection", async () => {
    const place = places.get("NoOpinion") as Place;
    const canceled = async (metric: string): Promise<boolean> =>
      (await metricOf(place, `apiserver_authorization_webhook_${metric}`)).some((line) =>
        line.includes('result="canceled"'),
      );
    await until(async () => {
      await askAndLeave(place); // Repeated if the webhook's timeout came first.
      return canceled("evaluations_total");
    });
    assert.equal(await canceled("evaluations_fail_open_total"), false);
  });

  test("decisions of the webhook count again after failures", async () => {
    reply = status({ allowed: true, reason: "fine" });
    for (const place of places.values()) {
      // On a busy machine a call may time out.
      await until(async () => assert.deepEqual(await mayAnn(place), { allowed: true, reason: "fine" }));
    }
  });

  test("the failure policy applies when the webhook does not listen", async () => {
    await webhook.close();
    assert.equal((await mayAnn(places.get("Deny") as Place)).allowed, false);
    const place = places.get("NoOpinion") as Place;
    assert.equal((await place.ann.send({ path: "/healthz" })).status, 200);
    const down = await place.ann.send({ path: "/api/v1/pods" });
    assert.equal(down.status, 500);
    assert.match(down.text, /dial tcp 127\.0\.0\.1:\d+: connect: connection refused\n$/);
  });
});

describe("a chain of webhooks in a configuration file", () => {
  let place: Place;
  let file = "";
  let kubeconfig = "";
  const said: string[] = [];
  const answers = new Map<string, object>();

  before(async () => {
    const directory = newDirectory();
    const webhook = await webhookAnswering(({ path, body }) => {
      const name = path.split("?")[0] as string;
      said.push(name);
      return status(answers.get(name) ?? { allowed: false, reason: `${name} about ${body.spec.user}` });
    });
    file = join(directory, "configuration");
    kubeconfig = join(directory, "kubeconfig");
    for (const name of ["one", "two"]) {
      writeFileSync(`${kubeconfig}-${name}`, kubeconfigOf(webhook).replace("/authorize", `/${name}`));
    }
    writeFileSync(file, first());
    place = await serverWith({ authorization: { configFile: file, webhook: {} } });
  });

  const conditions = [
    "matchConditionSubjectAccessReviewVersion: v1",
    "matchConditions:",
    "- expression: has(request.resourceAttributes)",
    `- expression: request.resourceAttributes.resource != "secrets"`,
  ];
  const one = (...rest: string[]): string => webhookLines("one", `${kubeconfig}-one`, "NoOpinion", rest);
  const two = (): string => webhookLines("two", `${kubeconfig}-two`, "NoOpinion");
  const first = (): string => configuration(one(...conditions), node, rbac, two());

  async function asks(spec: object): Promise<{ said: string[]; status: unknown }> {
    said.length = 0;
    const answer = await mayAnn(place, spec);
    return { said: [...said], status: answer };
  }
  const pods = (name: string): object => ({ resourceAttributes: { verb: "list", resource: "pods", namespace: name } });

  test("webhooks are called in order, each if its match conditions hold", async () => {
    const reason = (...names: string[]): string => names.map((name) => `/${name} about ann`).join("\n");
    const both = await asks(pods("a"));
    assert.deepEqual(both.status, { allowed: false, reason: reason("one", "two") });
    const secrets = await asks({ resourceAttributes: { verb: "list", resource: "secrets" } });
    assert.deepEqual(secrets.status, { allowed: false, reason: reason("two") });
    const path = await asks({ nonResourceAttributes: { path: "/nowhere", verb: "get" } });
    assert.deepEqual(path.status, { allowed: false, reason: reason("two") });
    assert.deepEqual(path.said, ["/two"]);
    answers.set("/one", { allowed: false, denied: true, reason: "never" });
    assert.deepEqual((await asks(pods("b"))).status, { allowed: false, denied: true, reason: "never" });
    answers.delete("/one");
    assert.match(
      (await metricOf(place, "apiserver_authorization_match_condition_exclusions_total")).join(),
      /\{name="one",type="Webhook"\} \d+$/,
    );
    assert.match(
      (await metricOf(place, "apiserver_authorization_match_condition_evaluation_seconds_count")).join(),
      /\{name="one",type="Webhook"\} \d+$/,
    );
  });

  /** Waits until the server has loaded the file this many times with this outcome. */
  async function reloaded(outcome: "success" | "failure", times: number): Promise<void> {
    await until(async () => {
      const lines = await metricOf(place, "apiserver_authorization_config_controller_automatic_reloads_total");
      const count = Number(
        lines
          .find((line) => line.includes(`status="${outcome}"`))
          ?.split(" ")
          .at(-1) ?? 0,
      );
      return count >= times;
    });
  }
  const currentHash = async (): Promise<string | undefined> =>
    /hash="(sha256:[0-9a-f]+)"\} 1$/.exec(
      (await metricOf(place, "apiserver_authorization_config_controller_last_config_info")).join(),
    )?.[1];

  function replace(content: string): void {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  }

  let failures = 0;
  const unusable: [what: string, content: () => string, error: RegExp][] = [
    [
      "half of the file",
      () => first().slice(0, 250),
      /failed to load AuthorizationConfiguration from file: |Required value/,
    ],
    ["an empty file", () => "", /authorizers: Required value: at least one authorization mode must be defined/],
    ["a file without RBAC and Node", () => configuration(two()), /missing required types: \[Node RBAC\]/],
    [
      "a file with ABAC",
      () => configuration(two(), node, rbac, "- {type: ABAC, name: abac}\n"),
      /authorizer type ABAC is not allowed if it was not enabled at initial server startup/,
    ],
    [
      "a file with AlwaysAllow",
      () => configuration(two(), node, rbac, "- {type: AlwaysAllow, name: alwaysallow}\n"),
      /authorizer type AlwaysAllow is not allowed if it was not enabled at initial server startup/,
    ],
    [
      "a file with a server URL that has query parameters",
      () => {
        writeFileSync(`${kubeconfig}-parameters`, withParameters);
        return configuration(two().replace("-two", "-parameters"), node, rbac);
      },
      /the server of cluster "w" must not have query parameters/,
    ],
    [
      "a file with a kubeconfig that does not exist",
      () => configuration(two().replace("-two", "-three"), node, rbac),
      /error loading file: stat .*-three: no such file or directory/,
    ],
    [
      "a file with an in-cluster configuration",
      () => configuration(two().replace(/connectionInfo.*/, "connectionInfo: {type: InClusterConfig}"), node, rbac),
      /InClusterConfig is not allowed for the API server itself/,
    ],
  ];
  for (const [what, content, error] of unusable) {
    test(`an invalid file does not change the chain: ${what}`, async () => {
      const hash = await currentHash();
      replace(content());
      await reloaded("failure", ++failures);
      assert.match(place.logged.join("\n"), error);
      assert.match(place.logged.join("\n"), /reloading authorization config: /);
      assert.deepEqual((await asks(pods(what))).status, { allowed: false, reason: "/one about ann\n/two about ann" });
      assert.equal(await currentHash(), hash);
    });
  }

  test("new content is used, wherever RBAC and Node are in the chain", async () => {
    const hash = await currentHash();
    replace(configuration(rbac, two(), node));
    await reloaded("success", 1);
    const { status: answer, said: names } = await asks(pods("later"));
    assert.deepEqual(answer, { allowed: false, reason: "/two about ann" });
    assert.deepEqual(names, ["/two"]);
    assert.notEqual(await currentHash(), hash);
  });

  test("a file that is written in two parts is used when it is complete", async () => {
    const whole = configuration(node, two(), rbac);
    writeFileSync(file, whole.slice(0, 250));
    await reloaded("failure", ++failures);
    assert.deepEqual((await asks(pods("half"))).status, { allowed: false, reason: "/two about ann" });
    writeFileSync(file, whole.slice(250), { flag: "a" });
    await reloaded("success", 2);
  });

  test("the chain does not change when the file is removed, and is replaced when it exists again", async () => {
    rmSync(file);
    await reloaded("failure", failures + 1);
    assert.match(
      place.logged.join("\n"),
      /reloading authorization config: open .*configuration: no such file or directory/,
    );
    assert.deepEqual((await asks(pods("gone"))).status, { allowed: false, reason: "/two about ann" });
    writeFileSync(file, configuration(one(), node, rbac));
    await reloaded("success", 3);
    assert.deepEqual((await asks(pods("back"))).status, { allowed: false, reason: "/one about ann" });
  });

  test("a file whose configuration is unchanged is not loaded", async () => {
    const before = place.logged.length;
    replace(`# ${"x".repeat(10)}\n${configuration(one(), node, rbac)}`);
    await until(() => place.logged.slice(before).includes("found new authorization config data"));
    replace(configuration(two(), node, rbac));
    await reloaded("success", 4);
    const [success] = (
      await metricOf(place, "apiserver_authorization_config_controller_automatic_reloads_total")
    ).filter((line) => /success/.test(line));
    assert.match(success as string, / 4$/);
  });
});

const withParameters = kubeconfigOf({ url: "https://127.0.0.1:1/?key=secret", ca: "" });
const noParameters = /^invalid configuration: the server of cluster "w" must not have query parameters$/;

describe("configurations with which a server does not start", () => {
  const rows: [what: string, options: (directory: string) => Partial<ServerOptions>, message: RegExp][] = [
    [
      "a mode without its file",
      () => ({ authorizationModes: ["Webhook"] }),
      /^authorization-mode Webhook's authorization config file not passed$/,
    ],
    [
      "a file without its mode",
      () => ({ authorization: { configFile: undefined, webhook: { configFile: "/x" } } }),
      /^cannot specify --authorization-webhook-config-file without mode Webhook$/,
    ],
    [
      "a kubeconfig that does not exist",
      () => ({
        authorizationModes: ["Webhook"],
        authorization: { configFile: undefined, webhook: { configFile: "/nonexistent/x" } },
      }),
      /^stat \/nonexistent\/x: no such file or directory$/,
    ],
    [
      "an unknown version",
      () => ({
        authorizationModes: ["Webhook"],
        authorization: { configFile: undefined, webhook: { configFile: "/x", version: "v2" } },
      }),
      /^unsupported webhook authorizer version "v2", supported versions are "v1", "v1beta1"$/,
    ],
    [
      "a file and modes by flags",
      () => ({ authorizationModes: ["RBAC"], authorization: { configFile: "/x", webhook: {} } }),
      /--authorization-config can not be specified when/,
    ],
    [
      "a file and webhook flags",
      () => ({ authorization: { configFile: "/x", webhook: { authorizedTtlMs: 1 } } }),
      /--authorization-config can not be specified when --authorization-mode or --authorization-webhook-\* flags are defined/,
    ],
    [
      "a file that does not exist",
      () => ({ authorization: { configFile: "/nonexistent/x", webhook: {} } }),
      /^open \/nonexistent\/x: no such file or directory$/,
    ],
    [
      "an invalid file",
      (directory) => {
        writeFileSync(join(directory, "bad"), configuration("- {type: RBAC, name: r}\n"));
        return { authorization: { configFile: join(directory, "bad"), webhook: {} } };
      },
      /^expected name rbac for authorizer RBAC instead of r$/,
    ],
    [
      "flags with a webhook whose URL has query parameters",
      (directory) => {
        writeFileSync(join(directory, "kubeconfig"), withParameters);
        return {
          authorizationModes: ["Webhook"],
          authorization: { configFile: undefined, webhook: { configFile: join(directory, "kubeconfig") } },
        };
      },
      noParameters,
    ],
    [
      "a file with a webhook whose URL has query parameters",
      (directory) => {
        writeFileSync(join(directory, "kubeconfig"), withParameters);
        writeFileSync(
          join(directory, "configuration"),
          configuration(webhookLines("one", join(directory, "kubeconfig"), "Deny"), rbac),
        );
        return { authorization: { configFile: join(directory, "configuration"), webhook: {} } };
      },
      noParameters,
    ],
    [
      "a file with ABAC, without its policies",
      (directory) => {
        writeFileSync(join(directory, "abac"), configuration("- {type: ABAC, name: abac}\n"));
        return { authorization: { configFile: join(directory, "abac"), webhook: {} } };
      },
      /authorization-mode ABAC's authorization policy file not passed/,
    ],
  ];
  for (const [what, options, message] of rows) {
    test(`a server does not start with ${what}`, async () => {
      const directory = newDirectory();
      await assert.rejects(
        startServer(options(directory)),
        (error: Error) => message.test(error.message) || assert.fail(error.message),
      );
    });
  }
});

describe("a webhook without TLS", () => {
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    request
      .resume()
      .on("end", () =>
        response.setHeader("content-type", "application/json").end(JSON.stringify(status({ allowed: true }))),
      );
  });
  let kubeconfig = "";
  let url = "";
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    open.push(() => void server.close());
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    kubeconfig = join(newDirectory(), "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigOf({ url, ca: "" }));
  });

  const byFile = (): Partial<ServerOptions> => {
    const file = join(newDirectory(), "configuration");
    writeFileSync(file, configuration(webhookLines("plain", kubeconfig, "Deny"), rbac));
    return { authorization: { configFile: file, webhook: {} } };
  };
  const byFlags = (): Partial<ServerOptions> => ({
    authorizationModes: ["Webhook"],
    authorization: { configFile: undefined, webhook: { configFile: kubeconfig, version: "v1" } },
  });
  for (const [how, options] of [
    ["flags", byFlags],
    ["files", byFile],
  ] as const) {
    test(`is called without credentials, and logged as a warning at the start, when ${how} configure it`, async () => {
      asked.length = 0;
      const place = await serverWith(options());
      assert.equal((await mayAnn(place)).allowed, true);
      assert.deepEqual([...new Set(asked)], [`/authorize?timeout=${how === "flags" ? "30s" : "400ms"} undefined`]);
      const warning = place.logged.filter((line) => line.startsWith("Webhook server is not https"));
      assert.equal(warning.length, 1);
    });
  }
});

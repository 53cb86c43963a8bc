/**
 * The webhook backend of auditing: which events arrive, which requests wait for them, and what
 * happens when the webhook fails.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { AuditOptions, AuditWebhookOptions } from "../../src/audit/contract.ts";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";
import {
  startWebhookServer,
  type WebhookReply,
  type WebhookRequest,
  type WebhookServer,
} from "../support/webhook-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Event = any;

const directory = mkdtempSync(join(tmpdir(), "coxswain-audit-webhook-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const policyFile = join(directory, "policy.yaml");
writeFileSync(
  policyFile,
  `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, nonResourceURLs: ["/metrics", "/healthz*"]}
- {level: None, users: ["system:apiserver", "system:kube-controller-manager"]}
- {level: None, userGroups: ["system:serviceaccounts:kube-system"]}
- {level: RequestResponse, resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata}
`,
);

const configMaps = "/api/v1/namespaces/default/configmaps";
const { batch } = defaultAuditOptions.webhook;

function configFile(name: string, url: string, ca: string): string {
  const path = join(directory, `${name}.kubeconfig`);
  const cluster = { server: `${url}/audit`, "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: { token: "secret" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

interface Setup {
  readonly webhook: WebhookServer;
  readonly admin: RawClient;
  /** Received events, in the order of their posts. */
  events(): Event[];
  /** The value of a series of /metrics. */
  counted(series: string): Promise<number>;
}

interface WebhookSetup {
  readonly options?: Partial<AuditWebhookOptions>;
  readonly log?: string;
  readonly policy?: string;
  readonly requestTimeoutMs?: number;
  reply?(request: WebhookRequest): WebhookReply | Promise<WebhookReply>;
}

async function withWebhook(
  { options = {}, log, policy = policyFile, requestTimeoutMs = 60_000, reply = () => ({}) }: WebhookSetup,
  run: (setup: Setup) => Promise<void>,
): Promise<void> {
  const webhook = await startWebhookServer(reply);
  const audit: AuditOptions = {
    policyFile: policy,
    log: { ...defaultAuditOptions.log, path: log },
    webhook: {
      ...defaultAuditOptions.webhook,
      ...options,
      configFile: configFile(String(webhook.port), webhook.url, webhook.ca),
    },
  };
  const server = await startTestServer({ audit, requestTimeoutMs });
  const admin = rawClient(server.kubeconfig);
  const counted = async (series: string): Promise<number> => {
    const { text } = await admin.send({ path: "/metrics" });
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.split(" ")[1] ?? 0,
    );
  };
  try {
    await run({ webhook, admin, counted, events: () => webhook.requests.flatMap(({ body }) => body.items) });
  } finally {
    admin.close();
    await server.close();
    await webhook.close();
  }
}

const failing = (response: ServerResponse): void => {
  response.statusCode = 500;
  response.end();
};

test("a server starts while the webhook does not answer, and its own writes are not rejected", async () => {
  const everything = join(directory, "everything.yaml");
  writeFileSync(everything, "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}");
  const options = { mode: "blocking-strict", initialBackoffMs: 1 };
  await withWebhook({ options, policy: everything, reply: () => failing }, async ({ webhook }) => {
    await until(() => webhook.requests.length > 0);
  });
});

test("batch mode posts EventLists with the events of the log, the last ones when the server ends", async () => {
  const log = join(directory, "both.log");
  const bodies: WebhookRequest[] = [];
  const reply = (request: WebhookRequest): WebhookReply => {
    bodies.push(request);
    return {};
  };
  await withWebhook(
    { log, options: { batch: { ...batch, maxSize: 4, throttleEnable: false } }, reply },
    async ({ admin, events }) => {
      for (let count = 0; count < 5; count++)
        await admin.send({
          method: "POST",
          path: configMaps,
          body: { metadata: { generateName: "a-" }, data: { count: `${count}` } },
        });
      await until(() => events().length >= 8);
    },
  );
  assert.ok(bodies.length >= 3);
  for (const { path, headers, body } of bodies) {
    assert.equal(path, "/audit?timeout=30s");
    assert.deepEqual([headers["content-type"], headers.authorization], ["application/json", "Bearer secret"]);
    const { items, ...rest } = body;
    assert.deepEqual(rest, { kind: "EventList", apiVersion: "audit.k8s.io/v1", metadata: {} });
    assert.ok(items.length <= 4);
  }
  const posted = new Set(bodies.flatMap(({ body }) => body.items.map((item: Event) => JSON.stringify(item))));
  const logged = readFileSync(log, "utf8").trimEnd().split("\n");
  assert.equal(posted.size, logged.length);
  for (const line of logged) {
    const { kind, apiVersion, ...event } = JSON.parse(line);
    assert.deepEqual([kind, apiVersion, posted.has(JSON.stringify(event))], ["Event", "audit.k8s.io/v1", true]);
  }
});

test("batch mode delays no request and counts lost events when the webhook fails or does not answer", async () => {
  for (const during of [failing, (): void => {}]) {
    let reply = during;
    const options = {
      initialBackoffMs: 60_000,
      batch: { ...batch, maxSize: 1, bufferSize: 2, throttleQps: 0.001, throttleBurst: 1 },
    };
    await withWebhook({ options, reply: () => reply }, async ({ admin, counted, webhook }) => {
      for (let count = 0; count < 5; count++) assert.equal((await admin.send({ path: configMaps })).status, 200);
      assert.equal(await counted('apiserver_audit_error_total{plugin="buffered"}'), 10 - 3);
      assert.ok((await counted("apiserver_audit_event_total")) >= 10);
      reply = failing; // Lets the server end without waiting.
      webhook.drop();
    });
  }
});

describe("blocking mode", () => {
  test("an answer, whole or streamed, waits until the webhook has its events", async () => {
    let release: (() => void)[] = [];
    const reply = async ({ body }: WebhookRequest): Promise<WebhookReply> => {
      if (body.items[0].auditID.startsWith("held") && body.items[0].stage === "ResponseComplete")
        await new Promise<void>((resolve) => release.push(resolve));
      return {};
    };
    await withWebhook({ options: { mode: "blocking" }, reply }, async ({ admin, events }) => {
      for (const [path, received] of [
        [`${configMaps}/none`, ["RequestReceived"]],
        [configMaps, ["RequestReceived"]],
        [`${configMaps}?watch=1&timeoutSeconds=1`, ["RequestReceived", "ResponseStarted"]],
      ] as const) {
        const id = `held-${path.length}`;
        let answered = false;
        const pending = admin.send({ path, headers: { "audit-id": id } }).then(() => {
          answered = true;
        });
        await until(() => release.length === 1);
        const stages = events()
          .filter(({ auditID }) => auditID === id)
          .map(({ stage }) => stage);
        assert.deepEqual([stages, answered], [[...received, "ResponseComplete"], false]);
        for (const go of release) go();
        release = [];
        await pending;
      }
    });
  });

  test("a request succeeds after five attempts when the webhook fails", async () => {
    await withWebhook(
      { options: { mode: "blocking", initialBackoffMs: 1 }, reply: () => failing },
      async ({ admin, webhook, counted }) => {
        assert.equal((await admin.send({ path: configMaps })).status, 200);
        assert.equal(webhook.requests.length, 10);
        assert.equal(await counted('apiserver_audit_error_total{plugin="webhook"}'), 2);
        assert.equal(await counted("apiserver_audit_requests_rejected_total"), 0);
      },
    );
  });

  test("a request times out when the webhook does not answer", async () => {
    const reply = ({ body }: WebhookRequest): WebhookReply =>
      body.items[0].stage === "ResponseComplete" ? () => {} : {};
    await withWebhook({ options: { mode: "blocking" }, reply, requestTimeoutMs: 100 }, async ({ admin }) => {
      assert.equal((await admin.send({ path: configMaps })).status, 504);
    });
  });

  test("blocking-strict mode rejects a request when its first event cannot be posted", async () => {
    await withWebhook(
      { options: { mode: "blocking-strict", initialBackoffMs: 1 }, reply: () => failing },
      async ({ admin, events, counted }) => {
        const { status, body } = await admin.send({
          method: "POST",
          path: configMaps,
          body: { metadata: { name: "never" } },
        });
        assert.equal(status, 500);
        assert.match(body.message, /failed to store audit event$/);
        assert.ok(events().every(({ stage }) => stage === "RequestReceived"));
        assert.equal(await counted("apiserver_audit_requests_rejected_total"), 1);
        assert.equal((await admin.send({ path: "/healthz" })).status, 200);
      },
    );
  });
});

test("a server does not start when the kubeconfig of the webhook does not exist", async () => {
  const audit = {
    ...defaultAuditOptions,
    policyFile,
    webhook: { ...defaultAuditOptions.webhook, configFile: join(directory, "none") },
  };
  await assert.rejects(startTestServer({ audit }), /initializing audit webhook: .*none.*no such file/);
});

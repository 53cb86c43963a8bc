/**
 * The permissions that a kube-apiserver checks for each request. This server checks the same
 * permissions in the same order. Guarantees:
 * - a user without one of them gets the same error, and nothing changes;
 * - a user with exactly these permissions gets the same status.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { otherPlugins } from "../../support/admission-replay.ts";
import { credentialsOf } from "../../support/kubeconfig-fields.ts";
import { type RawClient, rawClient } from "../../support/raw-client.ts";
import {
  dryRun,
  formatWebhookKubeconfig,
  openRightsSession,
  parseRightsTable,
  type RightsArea,
  type RightsRow,
  type RightsSession,
  type RightsUser,
  requesters,
} from "../../support/rights-table.ts";
import { startTestServer, type TestServer } from "../../support/start-test-server.ts";
import { startWebhookServer, type WebhookServer } from "../../support/webhook-server.ts";

const all = parseRightsTable(
  gunzipSync(readFileSync(join(import.meta.dirname, "testdata/rights.jsonl.gz"))).toString(),
);
/** The areas of topics, and of kinds whose requests need permissions that other kinds do not. */
const special =
  /^(?!\S*\/v\d)|^\/v1 (?:pods|nodes|namespaces|services|serviceaccounts)$|^(?:rbac|certificates)\S*\/v1 |^rights/;
/** Of the other areas, whose requests all need the same permissions, the small size has every fifth. */
const areaStep = 5;
/**
 * Without COXSWAIN_TEST_FULL=1, alpha and beta versions of resources with a stable version are
 * omitted, and most of the kinds that have no permissions of their own.
 */
const areas =
  process.env.COXSWAIN_TEST_FULL === "1"
    ? all
    : all
        .filter(({ area }) => !isBeta(area) || !all.some((one) => isBetterOf(one, area)))
        .filter(({ area }, index) => special.test(area) || index % areaStep === 0);

function isBeta(area: string): boolean {
  return /^\S*\/v\d+(alpha|beta)\d+ /.test(area);
}

function isBetterOf({ area }: RightsArea, beta: string): boolean {
  return !isBeta(area) && area === beta.replace(/(\/v\d+)\w+ /, "$1 ");
}

interface Difference {
  readonly lines: RegExp;
  readonly status: number;
  /** The number of permissions that are checked, the first of the row; all by default. */
  readonly rights?: number;
  readonly why: string;
}

/** Each is in docs/compatibility/authorization.md. */
const differences: readonly Difference[] = [
  { lines: /^(PUT|PATCH) .*\/services\/z\/status/, status: 404, rights: 1, why: "a write of /status creates nothing" },
  { lines: /^DELETE .*\/services\/z$/, status: 404, why: "upstream deletes what the write of /status has created" },
  {
    lines: /^PATCH .*\/validatingadmissionpolicies\/z\/status.*force/,
    status: 404,
    why: "a write of /status creates nothing",
  },
  { lines: /^PATCH .*roles\/z$/, status: 404, rights: 1, why: "a patch of a missing role cannot escalate" },
];

/** Controllers write the status of these after the answer. */
const unsettled: ReadonlySet<string> = new Set([
  "apiextensions.k8s.io/v1 customresourcedefinitions",
  "flowcontrol.apiserver.k8s.io/v1 flowschemas",
]);

let directory: string;
let server: TestServer;
let webhook: WebhookServer;
let session: RightsSession;
let adminClient: RawClient;

// biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON.
type Discovered = any;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), "coxswain-rights-"));
  webhook = await startWebhookServer(({ body }) => session.review(body));
  const configFile = join(directory, "webhook");
  writeFileSync(configFile, formatWebhookKubeconfig(webhook));
  server = await startTestServer({
    authorizationModes: ["Webhook"],
    authorization: {
      configFile: undefined,
      webhook: { configFile, version: "v1", authorizedTtlMs: 0, unauthorizedTtlMs: 0 },
    },
    runtimeConfig: "api/all=true",
    featureGates:
      "AllowUnsafeMalformedObjectDeletion=true,ClusterTrustBundle=true,GenericWorkload=true,PodCertificateRequest=true,StorageVersionMigrator=true",
    admission: { enable: ["NodeRestriction"], disable: otherPlugins },
    controllers: [],
    logger: { info() {}, warn() {}, error() {} },
  });
  const user = async ({ name, groups }: (typeof requesters)[string]): Promise<RightsUser> =>
    accessOf((await server.as(name, groups)).kubeconfig);
  const users = await Promise.all(
    Object.entries(requesters).map(async ([as, requester]) => [as, await user(requester)] as const),
  );
  adminClient = rawClient(server.kubeconfig);
  session = openRightsSession({ ...Object.fromEntries(users), admin: accessOf(server.kubeconfig) });
});

after(async () => {
  session.close();
  adminClient.close();
  await webhook.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

function accessOf(kubeconfig: string): RightsUser {
  return { url: server.url, tls: credentialsOf(kubeconfig) };
}

/** The revision of the store, which every change increases. */
async function revision(): Promise<string> {
  const { text } = await session.send({ line: "GET /api/v1/namespaces/none/podtemplates", as: "admin" }, () => true);
  return JSON.parse(text).metadata.resourceVersion;
}

function expected(row: RightsRow): Pick<RightsRow, "status" | "rights"> {
  const difference = differences.find(({ lines }) => lines.test(row.line));
  return difference === undefined ? row : { status: difference.status, rights: row.rights.slice(0, difference.rights) };
}

/** Undefined after a request that may have changed an object. */
let lastRevision: string | undefined;

async function checkUnchanged(line: string): Promise<void> {
  const before = lastRevision;
  lastRevision = await revision();
  if (before !== undefined) assert.equal(lastRevision, before, `${line} has changed an object without permission`);
}

async function check(row: RightsRow, { settled }: { settled: boolean }): Promise<void> {
  const { status, rights } = expected(row);
  const needed = new Map(rights.filter(([, without]) => without !== 0));
  if (row.as !== "admin") {
    if (settled) lastRevision ??= await revision();
    for (const [right, without] of needed) {
      const answer = await session.send(without < 300 ? dryRun(row) : row, (one) => one !== right && needed.has(one));
      assert.equal(answer.status, without, `${row.line} without permission to ${right}: ${answer.text}`);
    }
    if (settled) await checkUnchanged(row.line);
  }
  const answer = await session.send(row, (right) => needed.has(right));
  assert.deepEqual(
    [answer.status, ...answer.asked],
    [status, ...rights.map(([right]) => right)],
    `${row.line}: ${answer.text}`,
  );
  if (!row.line.startsWith("GET ") && !row.line.includes("dryRun=")) lastRevision = undefined;
}

for (const { area, rows } of areas) {
  test(`checks the permissions of kube-apiserver: ${area}`, async () => {
    for (const row of rows) await check(row, { settled: !unsettled.has(area) && !row.line.startsWith("GET ") });
  });
}

test("the table has every verb of every served resource and subresource", async () => {
  const accept = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
  const groups = await Promise.all(["/api", "/apis"].map((path) => adminClient.send({ path, headers: accept })));
  const served = groups.flatMap(({ body }) =>
    body.items.flatMap(({ metadata: { name: group = "" }, versions }: Discovered) =>
      versions.flatMap(({ version, resources }: Discovered) =>
        resources.flatMap(({ resource, verbs, subresources = [] }: Discovered) => [
          ...verbs.map((verb: string) => `${verb} ${group}/${version} ${resource}`),
          ...subresources.flatMap((one: Discovered) =>
            one.verbs.map((verb: string) => `${verb} ${group}/${version} ${resource}/${one.subresource}`),
          ),
        ]),
      ),
    ),
  );
  const recorded = new Set(
    all.flatMap(({ rows }) =>
      rows.flatMap(({ rights }) => rights.map(([right]) => right.split(" ").slice(0, 3).join(" "))),
    ),
  );
  assert.ok(served.length > 850, String(served.length));
  assert.deepEqual(
    served.filter((right) => !recorded.has(right)),
    [],
  );
});

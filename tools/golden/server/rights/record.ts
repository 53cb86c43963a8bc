/**
 * Records the permissions that a kube-apiserver requests from its authorizer, in order, with a webhook that logs them.
 *   npm run golden rights -- KUBECONFIG WEBHOOK_KUBECONFIG FILE
 * Writes WEBHOOK_KUBECONFIG, waits until the server of KUBECONFIG (with a member of system:masters) is ready, and sends the steps in this folder.
 * The server runs with these flags; tokens.csv contains the admin, and for the users of rights-table.ts lines like `node-token,system:node:n,n,system:nodes`:
 *   --token-auth-file=tokens.csv --authorization-mode=Webhook --authorization-webhook-config-file=WEBHOOK_KUBECONFIG
 *   --authorization-webhook-version=v1 --authorization-webhook-cache-authorized-ttl=0 --authorization-webhook-cache-unauthorized-ttl=0
 *   --runtime-config=api/all=true --feature-gates=AllowUnsafeMalformedObjectDeletion=true,ClusterTrustBundle=true,GenericWorkload=true,
 *     PodCertificateRequest=true,StorageVersionMigrator=true
 *   --enable-admission-plugins=NodeRestriction --disable-admission-plugins with the list `otherPlugins` in test/support/admission-replay.ts
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import {
  dryRun,
  formatRightsTable,
  formatWebhookKubeconfig,
  openRightsSession,
  type RightsArea,
  type RightsRow,
  type RightsSession,
  type RightsStep,
  requesters,
} from "../../../../test/support/rights-table.ts";
import { startWebhookServer } from "../../../../test/support/webhook-server.ts";
import { openServerClient, readKubeconfig, type Send } from "../client.ts";
import { type DiscoveredResource, genericSteps } from "./generic-steps.ts";
import { customVersions, setUp, specialResources, specialSteps } from "./special-steps.ts";

const [kubeconfig, webhookFile, file] = process.argv.slice(2);
if (kubeconfig === undefined || webhookFile === undefined || file === undefined)
  throw new Error("usage: record.ts KUBECONFIG WEBHOOK_KUBECONFIG FILE");

let session: RightsSession | undefined;
const webhook = await startWebhookServer(({ body }) => session?.review(body) ?? {});
writeFileSync(webhookFile, formatWebhookKubeconfig(webhook));
while (!existsSync(kubeconfig)) await sleep(500);
const access = readKubeconfig(readFileSync(kubeconfig, "utf8"));
const users = Object.keys(requesters).map((as) => [
  as,
  { ...access, headers: { authorization: `Bearer ${as}-token` } },
]);
session = openRightsSession({ ...Object.fromEntries(users), admin: access });
const areas: RightsArea[] = [];
await record("set up", setUp);
const send = openServerClient(readFileSync(kubeconfig, "utf8"));
let discovered = await discover(send);
for (; discovered.filter(({ custom }) => custom).length < customVersions; discovered = await discover(send))
  await sleep(500);
for (const found of discovered) await record(`${found.group}/${found.version} ${found.resource}`, genericSteps(found));
for (const [area, steps] of Object.entries(specialSteps)) await record(area, steps);
session.close();
await webhook.close();
writeFileSync(file, gzipSync(formatRightsTable(areas), { level: 9 }));

async function record(area: string, steps: readonly RightsStep[]): Promise<void> {
  const rows: RightsRow[] = [];
  for (const step of steps) rows.push(await recordStep(session as RightsSession, step));
  areas.push({ area, rows });
}

/**
 * Finds the required rights with dry runs: grants each right that is missing until the request succeeds, then revokes
 * each one in turn. The real step is sent once, with all rights.
 */
async function recordStep(session: RightsSession, step: RightsStep): Promise<RightsRow> {
  const isLacking = (right: string): boolean => (step.lacking ?? []).some((start) => right.startsWith(start));
  const granted = new Set<string>();
  if (step.as !== "admin") {
    for (let missing: string | undefined = ""; missing !== undefined; ) {
      const { asked } = await session.send(dryRun(step), (right) => granted.has(right));
      missing = asked.find((right) => !granted.has(right) && !isLacking(right));
      if (missing !== undefined) granted.add(missing);
    }
  }
  const without = new Map<string, number>();
  for (const right of granted)
    without.set(right, (await session.send(dryRun(step), (one) => one !== right && granted.has(one))).status);
  const { status, asked, text } = await session.send(step, (right) => granted.has(right));
  if (step.as === "admin" && status >= 300) throw new Error(`${step.line}: ${text}`);
  const unasked = [...granted].filter((right) => !asked.includes(right));
  if (unasked.length > 0) throw new Error(`${step.line}: a dry run needs ${unasked}, the request does not`);
  return { ...step, status, rights: asked.map((right) => [right, without.get(right) ?? 0] as const) };
}

// biome-ignore lint/suspicious/noExplicitAny: as the server answers it.
type Answer = any;

async function discover(send: Send): Promise<DiscoveredResource[]> {
  const accept = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
  const answers = [
    (await send("GET /api", undefined, accept)).body,
    (await send("GET /apis", undefined, accept)).body,
  ] as Answer[];
  const found: DiscoveredResource[] = answers.flatMap(({ items }) =>
    items.flatMap(({ metadata: { name: group = "" }, versions }: Answer) =>
      versions.flatMap(({ version, resources }: Answer) =>
        resources.map(({ resource, responseKind: { kind }, scope, verbs, subresources = [] }: Answer) => ({
          group,
          version,
          resource,
          kind,
          namespaced: scope === "Namespaced",
          custom: group === "rights.example.com",
          verbs,
          subresources: subresources.map((one: Answer) => ({
            name: one.subresource,
            kind: one.responseKind?.kind ?? "",
            verbs: one.verbs,
          })),
        })),
      ),
    ),
  );
  return found.filter(({ group, resource }) => !specialResources.has(`${group}/${resource}`));
}

/**
 * `npm run bench -- --webhook-faults`: the latency of requests of kinds without webhooks while the
 * webhook of another kind fails, compared with the same load while that webhook answers. Windows
 * with and without the fault alternate; each row has the medians of their 99th percentiles and of
 * their ratios. Another process serves the webhooks; the operating system shares the processors with
 * it. So there are windows in which the server makes healthy calls only, and one more process calls
 * the failing webhook: their ratio (`direct`) is what the processors alone cost.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Child, startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";
import { median } from "./median.ts";

const windowMs = 1000;
const turns = 5;
/** Requests of other kinds are sent without a pause by this many loops. */
const steadyLoops = 4;
/** Requests that the webhook reviews: each loop pauses, so that no window gets more of them. */
const reviewedLoops = 8;
const pauseMs = 50;
const goal = 1.2;

const configMaps = "/api/v1/namespaces/default/configmaps";
const group = "/apis/admissionregistration.k8s.io/v1";

function configMap(fault: string, data: object = {}): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: fault, labels: { fault } }, data });
}

/** A webhook that reviews ConfigMaps with the label of the fault. */
function configuration(fault: string, url: string, ca: string): string {
  const webhooks = ["a", "b"].slice(0, fault === "patches" ? 2 : 1).map((name) => ({
    name: `${name}.example.com`,
    clientConfig: { url, caBundle: Buffer.from(ca).toString("base64") },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] }],
    objectSelector: { matchLabels: { fault } },
    matchConditions: [{ name: "by-clients", expression: "!has(object.data) || !('by' in object.data)" }],
    reinvocationPolicy: "IfNeeded",
    sideEffects: "None",
    timeoutSeconds: 1,
    admissionReviewVersions: ["v1"],
  }));
  return JSON.stringify({ metadata: { name: fault }, webhooks });
}

interface Subject {
  readonly child: Child;
  readonly urls: ReadonlyMap<string, string>;
  readonly ca: string;
  readonly steady: BenchClient;
  readonly reviewed: BenchClient;
}

/** @returns the 99th percentile of the other requests, in milliseconds */
async function window({ steady, reviewed }: Subject, fault: string): Promise<number> {
  const endsAt = performance.now() + windowMs;
  const times: number[] = [];
  const secret = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } });
  const others = Array.from({ length: steadyLoops }, async () => {
    for (let count = 0; performance.now() < endsAt; count++) {
      const startedAt = performance.now();
      if (count % 2 === 0) await steady.send({ method: "GET", path: "/api/v1/namespaces/default" });
      else await steady.send({ method: "POST", path: "/api/v1/namespaces/default/secrets?dryRun=All", body: secret });
      times.push(performance.now() - startedAt);
    }
  });
  const reviews = Array.from({ length: reviewedLoops }, async () => {
    while (performance.now() < endsAt) {
      if (fault === "writes")
        await reviewed.send({ method: "PUT", path: `${configMaps}/writes?timeout=1s`, body: configMap(fault) });
      else await reviewed.send({ method: "POST", path: `${configMaps}?dryRun=All`, body: configMap(fault) });
      await delay(pauseMs);
    }
  });
  await Promise.all([...others, ...reviews]);
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] as number;
}

/** @returns as `window`, while another process calls the failing webhook */
async function directWindow(subject: Subject, fault: string): Promise<number> {
  const args = [subject.urls.get(fault) as string, subject.ca, String(reviewedLoops), String(pauseMs)];
  const caller = await startChild(new URL("webhook-caller.ts", import.meta.url), args);
  try {
    return await window(subject, "healthy");
  } finally {
    await caller.stop();
  }
}

async function measure(subject: Subject, fault: string): Promise<void> {
  const healthy: number[] = [];
  const failing: number[] = [];
  const direct: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    healthy.push(await window(subject, "healthy"));
    failing.push(await window(subject, fault));
    direct.push(await directWindow(subject, fault));
  }
  const ratioOf = (values: readonly number[]): string =>
    median(values.map((value, index) => value / (healthy[index] as number))).toFixed(2);
  const { rssMiB } = await subject.child.usage();
  const times = `p99 ${median(failing).toFixed(1)} ms (healthy ${median(healthy).toFixed(1)} ms)`;
  const ratios = `ratio ${ratioOf(failing)} (goal ${goal}, direct ${ratioOf(direct)})`;
  console.log(`${fault.padEnd(10)} ${times}  ${ratios}  rss ${rssMiB.toFixed(0)} MiB`);
}

/** Prints a row for each fault whose name contains the text. */
export async function webhookFaultsBench(text = ""): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [directory]);
  const open = (): BenchClient => new BenchClient(child.ready as unknown as Target);
  const [setup, steady, reviewed] = [open(), open(), open()];
  const target = JSON.stringify(child.ready);
  const webhooks = await startChild(new URL("server-webhook-faults.ts", import.meta.url), [target]);
  const { ca = "", urls: served = "{}" } = webhooks.ready;
  const urls = new Map<string, string>(Object.entries(JSON.parse(served)));
  urls.set("down", "https://127.0.0.1:1/");
  const create = (path: string, body: string): Promise<void> =>
    setup.run(1, 1, () => ({ method: "POST", path, body }), 201);
  for (const [fault, url] of urls)
    await create(`${group}/mutatingwebhookconfigurations`, configuration(fault, url, ca));
  await create(configMaps, configMap("writes", { by: "setup" }));
  const subject = { child, urls, ca, steady, reviewed };
  for (let turn = 0; turn < 2; turn++) await window(subject, "healthy"); // Compiles the code.
  const chosen = [...urls.keys()].filter((fault) => fault.includes(text)); // "healthy" shows the noise.
  for (const fault of chosen) await measure(subject, fault);
  for (const client of [setup, steady, reviewed]) client.close();
  await child.stop();
  await webhooks.stop();
  rmSync(directory, { recursive: true, force: true });
}

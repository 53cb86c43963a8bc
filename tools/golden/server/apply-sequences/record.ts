/**
 * Sends random sequences of writes to a kube-apiserver and replays them in this server. Reports differences; records sequences without any.
 *   npm run golden apply-sequences -- KUBECONFIG FROM TO [FILE PER_KIND]
 * FROM and TO are seeds. FILE (src/registry/managed-fields/testdata/sequences.jsonl.gz) gets at most PER_KIND sequences of each kind. The server runs with
 * `--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority,DefaultTolerationSeconds,RuntimeClass,`
 * `StorageObjectInUseProtection`. The definitions and the namespace `n` are created there and not deleted. Both clocks must agree.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { openSequenceReplay } from "../../../../test/support/replay-sequence.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";
import { Disguise, inOrder, type SequenceStep, type WriteSequence } from "../../../../test/support/write-sequence.ts";
import { openServerClient, type ServerAnswer } from "../client.ts";
import type { Json } from "./change.ts";
import { definitions, type Kind, kinds, pathOf } from "./kinds.ts";
import { makeRequest, plan, type Request } from "./requests.ts";

const [kubeconfig, from, to, file, perKind] = process.argv.slice(2);
if (kubeconfig === undefined || to === undefined)
  throw new Error("usage: record.ts KUBECONFIG FROM TO [FILE PER_KIND]");

type Answer = ServerAnswer & { readonly body: Json };

const sendTo = openServerClient(readFileSync(kubeconfig, "utf8"));

async function send({ line, type = "application/json", agent, body }: Request): Promise<Answer> {
  const headers = { "content-type": type, ...(agent !== undefined && { "user-agent": latin1(agent) }) };
  return (await sendTo(line, body === undefined ? undefined : JSON.stringify(body), headers)) as Answer;
}

/** Encodes a text for a header, as Latin-1. */
const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
const get = async (path: string): Promise<Json> => {
  const { status, body } = await send({ line: `GET ${path}` });
  return status === 200 ? body : undefined;
};
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const nextSecond = (): Promise<void> => sleep(1010 - (Date.now() % 1000));

/** @returns undefined when a request crossed the end of a second, because its timestamp is ambiguous then */
async function record(kind: Kind, seed: number): Promise<WriteSequence | undefined> {
  const random = seededRandom(seed);
  const name = `sequence-${process.pid}-${seed}`;
  const path = pathOf(kind, kind.versions[0] as string, name);
  const past: Json[] = [];
  const steps: SequenceStep[] = [];
  let present: Json;
  await nextSecond();
  const start = Math.floor(Date.now() / 1000);
  const disguise = new Disguise(name, start * 1000);
  try {
    for (const what of plan(random, kind)) {
      const made = makeRequest(what, kind, seededRandom(random(2 ** 30)), { name, present, past });
      if (made === undefined || Date.now() % 1000 > 700) await nextSecond();
      if (made === undefined) continue;
      const second = Math.floor(Date.now() / 1000);
      const answer = await send(made);
      if (Math.floor(Date.now() / 1000) !== second) return undefined;
      const isShown =
        answer.status < 300 &&
        !made.line.startsWith("DELETE") &&
        !made.line.includes("/scale") &&
        !made.line.includes("dryRun");
      const after = isShown && answer.body.metadata.deletionTimestamp === undefined ? answer.body : await get(path);
      const step = { at: second - start, ...made, ...(made.agent !== undefined && { agent: latin1(made.agent) }) };
      const { status, warnings, body } = answer;
      steps.push(
        disguise.hide({
          ...step,
          status,
          warnings,
          answer: inOrder(body),
          ...(!isShown && { after: after ?? null }),
        }) as SequenceStep,
      );
      if (present !== undefined) past.push(present);
      present = after;
    }
  } finally {
    await send({
      line: `PATCH ${path}`,
      type: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    });
    await send({ line: `DELETE ${path}?gracePeriodSeconds=0` });
  }
  return { kind: kind.kind, seed, path: pathOf(kind, kind.versions[0] as string, "$name"), steps };
}

await send({ line: "POST /api/v1/namespaces", body: { metadata: { name: "n" } } });
const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
for (const body of definitions) await send({ line: `POST ${path}`, body });
await sleep(3000); // Until they are served.
const stored: Json[] = await Promise.all(definitions.map(({ metadata }) => get(`${path}/${metadata.name}`)));
for (const { metadata } of stored) delete metadata.managedFields;

const { replay, close } = await openSequenceReplay(stored);
const kept: WriteSequence[] = [];
const asked = Number(to) - Number(from) + 1;
let differing = 0;
for (let seed = Number(from); seed <= Number(to); seed++) {
  const kind = kinds[seed % kinds.length] as Kind;
  let sequence: WriteSequence | undefined;
  for (let tries = 5; sequence === undefined && tries > 0; tries--) sequence = await record(kind, seed);
  if (sequence === undefined) continue;
  try {
    await replay(sequence);
    if (kept.filter((one) => one.kind === kind.kind).length < Number(perKind ?? 0)) kept.push(sequence);
  } catch (error) {
    differing++;
    console.log(`${kind.kind} ${seed}: ${(error as Error).message}\n`);
  }
}
if (file !== undefined)
  writeFileSync(file, gzipSync([stored, ...kept].map((one) => JSON.stringify(one)).join("\n"), { level: 9 }));
console.log(`${asked} sequences, ${differing} differ, ${kept.length} kept`);
await close();

/** Memory of servers that cache many objects of 1 KB. */
import { systemClock } from "../src/apimachinery/clock.ts";
import { EtcdClient } from "../src/storage/etcd/api/client.ts";
import { residentMiB } from "../test/support/processes.ts";
import { collection, flunder, namespace, type Start, type Subject, startOurs, startSample } from "./etcd-subjects.ts";

interface MemoryOptions {
  readonly start: Start;
  readonly program: string;
  readonly objects: number;
}

const perTransaction = 100;
const updates = 5_000;

/**
 * Fills etcd with copies of an object that each server has stored, starts both, and prints their
 * memory after they have loaded the objects, and after updates and lists.
 */
export async function etcdMemory({ start, program, objects }: MemoryOptions): Promise<void> {
  for (const open of [startOurs, (options: Start) => startSample(options, program)]) {
    await withSubject(open(start), (subject) => fill(start.etcd, subject, objects));
    await withSubject(open(start), use);
  }
}

async function withSubject(starting: Promise<Subject>, run: (subject: Subject) => Promise<void>): Promise<void> {
  const subject = await starting;
  try {
    await run(subject);
  } finally {
    await subject.stop();
  }
}

/** Stores objects as the server stores them. */
async function fill(url: string, { client, keys }: Subject, objects: number): Promise<void> {
  const etcd = new EtcdClient({ servers: [url], clock: systemClock });
  const { status, body } = await client.send({ method: "POST", path: collection, body: flunder("template") });
  if (status !== 201) throw new Error(body);
  const key = Buffer.from(`${keys}${namespace}/template`);
  const value = (await etcd.range({ key })).kvs?.[0]?.value.toString() as string;
  for (let at = 0; at < objects; at += perTransaction) {
    const puts = Array.from({ length: Math.min(perTransaction, objects - at) }, (_, index) => {
      const name = `many-${at + index}`;
      const uid = `"uid":"00000000-0000-4000-8000-${String(at + index).padStart(12, "0")}"`;
      const text = value.replace('"name":"template"', `"name":"${name}"`).replace(/"uid":"[^"]*"/, uid);
      return { request_put: { key: Buffer.from(`${keys}${namespace}/${name}`), value: Buffer.from(text) } };
    });
    await etcd.txn({ compare: [], success: puts, failure: [] });
  }
  etcd.close();
}

async function use({ name, pid, client }: Subject): Promise<void> {
  // The sample answers 429 until its cache is loaded, except for lists with a limit.
  while (
    (await client.send({ method: "GET", path: `${collection}?resourceVersion=0&fieldSelector=metadata.name=x` }))
      .status !== 200
  )
    await new Promise((resolve) => setTimeout(resolve, 100));
  const { bytes } = await client.read(collection);
  const loaded = residentMiB(pid);
  for (let round = 0; round < 3; round++) await client.read(collection);
  await client.run(
    updates,
    16,
    (index) => ({
      method: "PATCH",
      path: `${collection}/many-${index}`,
      contentType: "application/merge-patch+json",
      body: JSON.stringify({ spec: { reference: "z".repeat(700) } }),
    }),
    200,
  );
  const used = residentMiB(pid);
  console.log(
    `memory: ${name.padEnd(18)} ${loaded.toFixed(0)} MiB after a list of ${(bytes / (1 << 20)).toFixed(0)} MiB, ` +
      `${used.toFixed(0)} MiB after ${updates} patches and 3 lists; at most ${residentMiB(pid, "VmHWM").toFixed(0)} MiB`,
  );
}

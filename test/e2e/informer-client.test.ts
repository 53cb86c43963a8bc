/**
 * client-go's informers against a server while connections are cut. Needs COXSWAIN_TEST_FULL=1 and
 * Go.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { type Http2Client, http2Client } from "../support/http2-client.ts";
import { skipWithout } from "../support/needs.ts";
import { openRelay, type Relay } from "../support/relay.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { engines } from "../support/test-engine.ts";

const skipWithoutGo = skipWithout("full", "go");
const merge = "application/merge-patch+json";
const rounds = 12;
const writesPerRound = 150;

interface ListedMap {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly resourceVersion: string;
    readonly labels?: { readonly x?: string };
  };
}

/** The objects that each informer of the program selects. */
const selections: Readonly<Record<string, (object: ListedMap) => boolean>> = {
  json: () => true,
  protobuf: () => true,
  "json label": ({ metadata }) => metadata.labels?.x === "1",
  "protobuf label": ({ metadata }) => metadata.labels?.x === "1",
  "json field": ({ metadata }) => metadata.name !== "n3",
  "protobuf namespace resync": ({ metadata }) => metadata.namespace === "default",
  "metadata json": () => true,
  "metadata protobuf": () => true,
  "metadata protobuf label": ({ metadata }) => metadata.labels?.x === "1",
};

interface Report {
  readonly objects: readonly string[];
  readonly problems: readonly string[];
  readonly resyncs: number;
}

for (const [storage, skip] of engines)
  describe(`client-go's informers over ${storage} hold the same objects as a list, while connections are cut (SEED=${seed})`, {
    skip: skipWithoutGo || skip,
  }, () => {
    let server: TestServer;
    let relay: Relay;
    let client: Http2Client;
    before(async () => {
      server = await startTestServer({ storage, historyBytesMax: 100_000 });
      relay = await openRelay(server.port);
      client = http2Client(server.kubeconfig);
      writeFileSync(join(server.directory, "relayed"), server.kubeconfig.replace(`:${server.port}`, `:${relay.port}`), {
        mode: 0o600,
      });
      const built = spawnSync("go", ["build", "-o", join(server.directory, "informers"), "."], {
        cwd: join(import.meta.dirname, "informer-client"),
        stdio: "inherit",
      });
      assert.equal(built.status, 0);
      await client.send("POST /api/v1/namespaces", { metadata: { name: "other" } });
    });
    after(async () => {
      client.close();
      relay.close();
      await server.close();
    });

    for (const watchList of ["true", "false"]) {
      test(`with WatchListClient=${watchList}`, { timeout: 300_000 }, async () => {
        const program = spawn(join(server.directory, "informers"), [join(server.directory, "relayed")], {
          env: { ...process.env, KUBE_FEATURE_WatchListClient: watchList },
          stdio: ["pipe", "pipe", "ignore"], // It logs every cut to stderr.
        });
        const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
        const random = seededRandom(seed);
        for (let round = 0; round < rounds; round++) {
          for (let count = 0; count < writesPerRound; count++) {
            await writeOne(client, random);
            if (random(60) === 0) relay.cut();
          }
          const last = `last-${watchList}-${round}`;
          await client.send("POST /api/v1/namespaces/default/configmaps", {
            metadata: { name: last, labels: { x: "1" } },
          });
          program.stdin.write(`default/${last}\n`);
          const reports = JSON.parse((await lines.next()).value as string) as Record<string, Report>;
          const { body } = await client.send("GET /api/v1/configmaps");
          for (const [name, selects] of Object.entries(selections)) {
            const { problems, objects } = reports[name] as Report;
            const expected = (body.items as ListedMap[])
              .filter(selects)
              .map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`);
            assert.deepEqual(
              { problems, objects },
              { problems: [], objects: expected.sort() },
              `${name}, round ${round}`,
            );
          }
          if (round === rounds - 1) assert.ok((reports["protobuf namespace resync"] as Report).resyncs > 0);
        }
        program.stdin.end();
      });
    }
  });

async function writeOne(client: Http2Client, random: (below: number) => number): Promise<void> {
  const path = `/api/v1/namespaces/${random(3) === 0 ? "other" : "default"}/configmaps`;
  const name = `n${random(20)}`;
  const labels = { x: ["0", "1", null][random(3)] };
  const data = { text: "t".repeat(random(2000)) };
  const writes: readonly (readonly [line: string, body?: object, type?: string])[] = [
    [`POST ${path}`, { metadata: { name, labels: { x: String(random(2)) } }, data }],
    [`PUT ${path}/${name}`, { metadata: { name, labels: { x: String(random(2)) } }, data }],
    [`PATCH ${path}/${name}`, { metadata: { labels }, data }, merge],
    [`DELETE ${path}/${name}`],
  ];
  const { status, body } = await client.send(...(writes[random(writes.length)] as (typeof writes)[number]));
  assert.ok([200, 201, 404, 409].includes(status), JSON.stringify(body));
}

/** The order in which a server writes an answer and the events of the write, on two connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { test } from "node:test";
import { http2Client } from "../support/http2-client.ts";
import { startTestServer } from "../support/start-test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";

/** The prototype of the streams of HTTP/2 servers in this process. */
async function streamPrototype(): Promise<Writable> {
  const server = http2.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  session.request({ ":path": "/" });
  const [stream] = (await once(server, "stream")) as [http2.ServerHttp2Stream];
  session.destroy();
  server.close();
  return Object.getPrototypeOf(stream) as Writable;
}

for (const storage of ["memory", "lmdb"] as const) {
  test(`${storage}: a server writes the event of a write before the answer to it`, async (context) => {
    const server = await startTestServer({ storage });
    context.after(() => server.close());
    const [writer, watcher] = [http2Client(server.kubeconfig), http2Client(server.kubeconfig)];
    context.after(() => [writer, watcher].forEach((client) => void client.close()));
    const written: string[] = [];
    const prototype = await streamPrototype();
    const { write, end } = prototype;
    const note = (piece: unknown): void => {
      const [, name] = /"name":"(n[0-9])"/.exec(String(piece)) ?? [];
      if (name !== undefined) written.push(`${String(piece).startsWith('{"type"') ? "event" : "answer"} ${name}`);
    };
    const noted = <Call extends (...args: never[]) => unknown>(call: Call): Call =>
      function (this: unknown, ...args: Parameters<Call>) {
        note(args[0]);
        return Reflect.apply(call, this, args);
      } as Call;
    Object.assign(prototype, { write: noted(write), end: noted(end) });
    context.after(() => Object.assign(prototype, { write, end }));
    let first = (): void => {};
    const opened = new Promise<void>((resolve) => {
      first = resolve;
    });
    watcher.watch(`${maps}?watch=1`, first);
    await writer.send(`POST ${maps}`, { metadata: { name: "first" } });
    await opened;
    const names = ["n1", "n2", "n3"];
    for (const name of names) await writer.send(`POST ${maps}`, { metadata: { name } });
    assert.deepEqual(
      written,
      names.flatMap((name) => [`event ${name}`, `answer ${name}`]),
    );
  });
}

/**
 * Users from header lines, parsed by Node's HTTP server, equal upstream's, as recorded by
 * tools/golden/request-headers.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { userReader } from "./request-header.ts";

interface Row {
  readonly usernames: string[];
  readonly uids: string[];
  readonly groups: string[];
  readonly extras: string[];
  readonly lines: string[];
  readonly user?: {
    readonly name: string;
    readonly uid: string;
    readonly groups: string[];
    readonly extra: Record<string, string[]>;
  };
  readonly unreadable?: true;
}

const rows: readonly Row[] = readFileSync(join(import.meta.dirname, "testdata/request-headers.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

let rawHeaders: string[] | undefined;
const server = http.createServer((request, response) => {
  rawHeaders = request.rawHeaders;
  response.end();
});
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
after(() => server.close());

for (const [index, { usernames, uids, groups, extras, lines, user, unreadable }] of rows.entries()) {
  test(`header lines ${index}: ${JSON.stringify(lines).slice(0, 100)}`, async () => {
    rawHeaders = undefined;
    const socket = net.connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(
      `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`,
    );
    socket.resume();
    await once(socket, "close");
    assert.equal(rawHeaders === undefined, unreadable === true);
    if (rawHeaders === undefined) return;
    const options = {
      clientCaFile: "x",
      allowedNames: [],
      usernameHeaders: usernames,
      uidHeaders: uids,
      groupHeaders: groups,
      extraHeaderPrefixes: extras,
    };
    const found = userReader(options)(rawHeaders);
    assert.deepEqual(
      found && { ...found, extra: new Map([...found.extra].sort()) },
      user && { ...user, extra: new Map(Object.entries(user.extra).sort()) },
    );
  });
}

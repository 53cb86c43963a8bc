/** Recordings that are complete, that a stopped recorder has left, and that are none. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseRecording } from "./parse-recording.ts";

const header = '{"format":"coxswain-recording","version":2}';
const partial = '{"format":"coxswain-recording","version":2,"isPartial":true}';
const request = '{"n":1,"request":{"method":"GET","path":"/a","query":[["b","c"]]}}';
const body = '{"n":1,"body":{"json":1}}';
const answer = '{"n":1,"answer":{"status":200,"headers":{"etag":"e"},"body":{"text":"b"}}}';
const zeros = "\0".repeat(100);
const stopped = "the recorder was stopped before the session ended: the end of the session is missing";
const expected = "expected a request, or the body, answer, event or end of one before";

const complete = [header, request, body, answer, '{"n":1,"event":{"base64":"YQ=="}}', '{"n":1,"end":true}'];
const rows: [title: string, text: string, lines: number, warnings: readonly string[]][] = [
  ["a complete recording", `${complete.join("\n")}\n`, 5, []],
  ["version 1", `${header.replace("2", "1")}\n${request}\n${answer}\n`, 2, []],
  ["an empty session", `${header}\n`, 0, []],
  ["a truncated copy", `${header}\n${request}\n${answer.slice(0, 20)}`, 1, ["line 3 is incomplete, and left out"]],
  ["a last line without its newline", `${header}\n${request}`, 0, ["line 2 is incomplete, and left out"]],
  ["a partial recording", `${partial}\n${request}\n`, 1, [stopped]],
  [
    "a torn line of a partial recording",
    `${partial}\n${request}\n${answer.slice(0, 9)}`,
    1,
    [stopped, "line 3 is incomplete, and left out"],
  ],
  [
    "zeros after a loss of power",
    `${partial}\n${request}\n${zeros}\n${answer}\n${zeros}`,
    1,
    [stopped, `line 3: ${expected}: it and 1 lines after it are left out`, "line 5 is incomplete, and left out"],
  ],
];
describe("a recording", () => {
  for (const [title, text, lines, warnings] of rows) {
    test(title, () => {
      const found = parseRecording(Buffer.from(text));
      assert.deepEqual([found.lines.length, found.warnings], [lines, warnings]);
    });
  }
});

const none = /^Error: line 1: this is not a recording$/;
const bad = new RegExp(`^Error: line [23]: ${expected}$`);
const withRequest = (line: string): string => `${header}\n${request}\n${line}\n`;
const withHeaders = (headers: string): string => withRequest(`{"n":1,"answer":{"status":200,"headers":${headers}}}`);
const errors: [title: string, text: string | Buffer, error: RegExp][] = [
  ["an empty file", "", none],
  ["a torn first line", header, none],
  ["bytes", Buffer.from([0xff, 0xfe, 10, 0, 10]), none],
  ["another format", '{"format":"other","version":2}\n', none],
  ["a later version", `${header.replace("2", "3")}\n`, /has version 3, and this program reads 1 and 2$/],
  ["a version that is no number", `${header.replace("2", '"2"')}\n`, /has version 2, and this program reads 1 and 2$/],
  ["a damaged line", withRequest("{"), bad],
  ["an empty line", withRequest(""), bad],
  ["a deep line", withRequest(`{"n":1,"event":{"json":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`), bad],
  ["an answer before its request", `${header}\n${answer}\n`, bad],
  ["a second request of a number", withRequest(request), bad],
  ["a query that is none", `${header}\n${request.replace('[["b","c"]]', '[["b"]]')}\n`, bad],
  ["a number as a path", `${header}\n${request.replace('"/a"', "1")}\n`, bad],
  ["a header that damages the answer", withHeaders('{"content-length":"5"}'), bad],
  ["a header with a line break", withHeaders('{"etag":"a\\r\\nb: c"}'), bad],
  ["a header that is a list", withHeaders('{"etag":["a"]}'), bad],
  ["__proto__ as a header", withHeaders('{"__proto__":"a"}'), bad],
  ["a status that does not end a request", withRequest('{"n":1,"answer":{"status":100,"headers":{}}}'), bad],
  ["a body without content", withRequest('{"n":1,"body":{}}'), bad],
];
describe("not a recording", () => {
  for (const [title, text, error] of errors) {
    test(title, () => assert.throws(() => parseRecording(Buffer.from(text)), error));
  }
});

/** URLs with the results and errors of Go's net/url. CEL's fixtures test the rest (`src/lib/cel`). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  escapedPath,
  formatGoUrl,
  GoUrlError,
  hostnameOf,
  parseGoUrl,
  parseRequestUri,
  portOf,
  queryOf,
  textOf,
} from "./go-url.ts";

/** Texts of the form that Go formats; undefined: as written. */
type Row = [text: string, parts: { host?: string; port?: string; path?: string }, formatted?: string];

const valid: Row[] = [
  [
    "https://user:pa%20ss@example.com:8443/a%2fb/c d?x=1&y=2#top",
    { host: "example.com", port: "8443", path: "/a/b/c%20d" },
    "https://user:pa%20ss@example.com:8443/a/b/c%20d?x=1&y=2#top",
  ],
  ["https://h/a%2fb/c%20d", { host: "h", path: "/a%2fb/c%20d" }],
  ["//host/path", { host: "host", path: "/path" }],
  ["mailto:me@example.com", {}],
  ["a:b", {}],
  ["/a:b", { path: "/a:b" }],
  ["http://[::1%25eth0]:80/", { host: "::1%eth0", port: "80", path: "/" }],
  ["http://[fe80::1]/", { host: "fe80::1", path: "/" }],
  ["*", { path: "*" }],
  ["?", {}],
  ["/a?", { path: "/a" }],
  ["http://é.example/ü", { host: "é.example", path: "/%C3%BC" }, "http://%C3%A9.example/%C3%BC"],
  ["http:///x", { path: "/x" }],
  ["http://h/%2F?#", { host: "h", path: "/%2F" }, "http://h/%2F?"],
  ["http://u@/", { path: "/" }],
];

describe("parses and formats", () => {
  for (const [text, { host = "", port = "", path = "" }, formatted = text] of valid)
    test(text, () => {
      const url = parseGoUrl(text);
      assert.deepEqual(
        { host: textOf(hostnameOf(url)), port: portOf(url), path: escapedPath(url), formatted: formatGoUrl(url) },
        { host, port, path, formatted },
      );
    });
});

const invalid: [text: string, message: string][] = [
  ["/%zz", 'parse "/%zz": invalid URL escape "%zz"'],
  ["http://a b/", 'parse "http://a b/": invalid character " " in host name'],
  ["http://host:port/", 'parse "http://host:port/": invalid port ":port" after host'],
  ["http://[::1", `parse "http://[::1": missing ']' in host`],
  ["http://[1.2.3.4]/", 'parse "http://[1.2.3.4]/": invalid IP-literal'],
  ["http://[::1]a/", 'parse "http://[::1]a/": invalid port "a" after host'],
  ["%41://x", 'parse "%41://x": first path segment in URL cannot contain colon'],
  ["1http://a", 'parse "1http://a": first path segment in URL cannot contain colon'],
  [":a", 'parse ":a": missing protocol scheme'],
  ["http://x/\x7f", 'parse "http://x/\\x7f": net/url: invalid control character in URL'],
  ["http://h/a#%zz", 'parse "http://h/a#%zz": invalid URL escape "%zz"'],
];

describe("rejects with Go's message", () => {
  for (const [text, message] of invalid)
    test(JSON.stringify(text), () => assert.throws(() => parseGoUrl(text), new GoUrlError(message)));
});

test("a request URI is absolute or begins with a slash", () => {
  parseRequestUri("/a?b");
  parseRequestUri("https://example.com");
  assert.throws(() => parseRequestUri("a/b"), new GoUrlError('parse "a/b": invalid URI for request'));
  assert.throws(() => parseRequestUri(""), new GoUrlError('parse "": empty url'));
});

test("a query keeps the order of values and skips invalid pairs", () => {
  const query = queryOf(parseGoUrl("/?a=1&b=%zz&a=2+3&c;d&e"));
  assert.deepEqual(
    [...query],
    [
      ["a", ["1", "2 3"]],
      ["e", [""]],
    ],
  );
});

/** The headers equal those of `SetAuthProxyHeaders` in client-go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { identityHeaders, isIdentityHeader } from "./identity-headers.ts";

const rows: [title: string, user: Parameters<typeof identityHeaders>[0], expected: string[]][] = [
  ["a name", { name: "ann", groups: [] }, ["X-Remote-User", "ann"]],
  [
    "everything",
    {
      name: "ann",
      uid: "u-1",
      groups: ["a", "b"],
      extra: new Map([["scopes", ["x", "y"]]]),
    },
    [
      ...["X-Remote-User", "ann", "X-Remote-Uid", "u-1", "X-Remote-Group", "a", "X-Remote-Group", "b"],
      ...["X-Remote-Extra-scopes", "x", "X-Remote-Extra-scopes", "y"],
    ],
  ],
  [
    "a key that is no header name",
    { name: "ann", groups: [], extra: new Map([["example.com/a b%ü:|~", ["v"]]]) },
    ["X-Remote-User", "ann", "X-Remote-Extra-example.com%2Fa%20b%25%C3%BC%3A|~", "v"],
  ],
  [
    "text beyond ASCII, as the bytes of UTF-8",
    { name: "jürgen", groups: ["団"] },
    ["X-Remote-User", "j\u00c3\u00bcrgen", "X-Remote-Group", "\u00e5\u009b\u00a3"],
  ],
];

for (const [title, user, expected] of rows)
  test(`sends ${title}`, () => assert.deepEqual(identityHeaders(user), expected));

const names: [name: string, expected: boolean][] = [
  ["x-remote-user", true],
  ["x-remote-uid", true],
  ["x-remote-group", true],
  ["x-remote-extra-", true],
  ["x-remote-extra-a", true],
  ["x-remote-extra", false],
  ["x-remote-username", false],
  ["authorization", false],
];

for (const [name, expected] of names)
  test(`${expected ? "replaces" : "keeps"} ${name}`, () => assert.equal(isIdentityHeader(name), expected));

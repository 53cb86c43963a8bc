import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenFileAuthenticator } from "./token-file.ts";

const acceptedRows: [what: string, text: string, token: string, want: unknown][] = [
  ["three columns", "t,ann,1\n", "t", { name: "ann", uid: "1", groups: [], extra: new Map() }],
  ["groups in quotes", 't,ann,1,"a,b"\r\n', "t", { name: "ann", uid: "1", groups: ["a", "b"], extra: new Map() }],
  [
    "one group, without further columns",
    "t,ann,1,a,b",
    "t",
    { name: "ann", uid: "1", groups: ["a"], extra: new Map() },
  ],
  ["spaces in groups", 't,ann,1,"a, b"', "t", { name: "ann", uid: "1", groups: ["a", " b"], extra: new Map() }],
  [
    "a token with a comma and a quote",
    '"a,""b",ann,1',
    'a,"b',
    { name: "ann", uid: "1", groups: [], extra: new Map() },
  ],
  [
    "a token named like a member of Object",
    "__proto__,ann,1",
    "__proto__",
    { name: "ann", uid: "1", groups: [], extra: new Map() },
  ],
  ["an unknown token", "t,ann,1", "u", undefined],
  ["no token at all", "t,ann,1", "", undefined],
  ["the start of a token", "tt,ann,1", "t", undefined],
  ["an unknown token named like a member of Object", "t,ann,1", "constructor", undefined],
  ["a file without lines", "", "", undefined],
];
for (const [what, text, token, want] of acceptedRows) {
  test(`token file: ${what}`, async () => {
    const answer = await tokenFileAuthenticator(text, "f.csv")(token, ["api"]);
    assert.deepEqual(answer, want === undefined ? undefined : { user: want, audiences: [] });
  });
}

const rejectedRows: [what: string, text: string, message: string][] = [
  [
    "two columns",
    "t,ann,1\nsecret,ann",
    "token file 'f.csv' line 2: must have at least 3 columns (token, user name, user uid), found 2",
  ],
  ["an empty token", "\n,ann,1", "token file 'f.csv' line 2: the token is empty"],
  ["an empty user name", "secret,,1", "token file 'f.csv' line 1: the user name is empty"],
  [
    "a token twice",
    'secret,ann,1,"a\nb"\nsecret,bob,2',
    "token file 'f.csv' line 3: the token is equal to that of line 1",
  ],
  [
    "a quote within a field",
    'a"secret,ann,1',
    "token file 'f.csv': parse error on line 1, column 2: bare \" in non-quoted-field",
  ],
  [
    "a quote without an end",
    't,ann,1\n"secret,bob,1',
    "token file 'f.csv': parse error on line 2, column 14: extraneous or missing \" in quoted-field",
  ],
];
for (const [what, text, message] of rejectedRows) {
  test(`token file: rejects ${what} without repeating the token`, () => {
    assert.throws(() => tokenFileAuthenticator(text, "f.csv"), new Error(message));
    assert.ok(!message.includes("secret"));
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Exchange, PeerCertificate } from "../request/exchange.ts";
import type { RequestHeaderOptions } from "./contract.ts";
import { requestHeaderAuthenticator } from "./request-header.ts";
import { checkRequestHeaderOptions } from "./request-header-options.ts";

const options: RequestHeaderOptions = {
  clientCaFile: "x",
  allowedNames: ["front-proxy"],
  usernameHeaders: ["X-Remote-User", "X-Other-User"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group", "X-Other-Group"],
  extraHeaderPrefixes: ["X-Remote-Extra-", "X-Other-Extra-"],
};
const proxy: PeerCertificate = {
  commonName: "front-proxy",
  organizations: ["o"],
  uids: [],
  fingerprint: "0f",
  expiresAt: 0,
  isTrustedBy: () => true,
};
const user = (name: string, more: Partial<UserInfo> = {}): UserInfo => ({
  name,
  uid: "",
  groups: [],
  extra: new Map(),
  ...more,
});

const rows: [
  what: string,
  lines: [string, string][],
  want: UserInfo | undefined,
  certificate?: PeerCertificate,
  allowedNames?: string[],
][] = [
  ["a user", [["X-Remote-User", "ann"]], user("ann")],
  ["header names are case-insensitive", [["x-rEMOTE-uSER", "ann"]], user("ann")],
  ["no headers", [], undefined],
  ["an empty user", [["X-Remote-User", ""]], undefined],
  ["a group without a user", [["X-Remote-Group", "a"]], undefined],
  [
    "uses the first header with a value",
    [
      ["X-Other-User", "bob"],
      ["X-Remote-User", ""],
    ],
    user("bob"),
  ],
  [
    "uses the order of the option",
    [
      ["X-Other-User", "bob"],
      ["X-Remote-User", "ann"],
    ],
    user("ann"),
  ],
  [
    "uses the first line of a repeated header",
    [
      ["X-Remote-User", "ann"],
      ["X-Remote-User", "system:admin"],
    ],
    user("ann"),
  ],
  [
    "uses the first line of a repeated header, also when it is empty",
    [
      ["X-Remote-User", ""],
      ["X-Remote-User", "system:admin"],
    ],
    undefined,
  ],
  ["keeps commas in names", [["X-Remote-User", "ann, bob"]], user("ann, bob")],
  [
    "collects all groups by header and line, without empty ones",
    [
      ["X-Remote-User", "ann"],
      ["X-Other-Group", "c"],
      ["x-remote-group", "a"],
      ["X-Remote-Group", ""],
      ["X-Remote-Group", "b,b"],
    ],
    user("ann", { groups: ["a", "b,b", "c"] }),
  ],
  [
    "a uid",
    [
      ["X-Remote-User", "ann"],
      ["X-Remote-Uid", "7"],
      ["X-Remote-Uid", "8"],
    ],
    user("ann", { uid: "7" }),
  ],
  [
    "decodes keys of extra and converts them to lower case",
    [
      ["X-Remote-User", "ann"],
      ["X-Remote-Extra-Acme.COM%2fProject", "one"],
      ["x-other-extra-acme.com%2Fproject", "two"],
      ["X-Remote-Extra-%zz", "three"],
      ["X-Remote-Extra-__proto__", ""],
    ],
    user("ann", {
      extra: new Map([
        ["acme.com/project", ["one", "two"]],
        ["%zz", ["three"]],
        ["__proto__", [""]],
      ]),
    }),
  ],
  ["UTF-8", [["X-Remote-User", Buffer.from("änn").toString("latin1")]], user("änn")],
  [
    "accepts any common name with an empty list of allowed names",
    [["X-Remote-User", "ann"]],
    user("ann"),
    { ...proxy, commonName: "x" },
    [],
  ],
];
for (const [what, lines, want, peerCertificate = proxy, allowedNames = options.allowedNames] of rows) {
  test(`request headers: ${what}`, () => {
    const authenticate = requestHeaderAuthenticator({ ...options, allowedNames }, () => ({
      pem: "",
      certificates: [],
    }));
    assert.deepEqual(
      authenticate({ peerCertificate, rawHeaders: lines.flat() } as unknown as Exchange, {
        warnings: [],
        annotations: undefined,
      }),
      want,
    );
  });
}

const otherClients: [what: string, certificate: PeerCertificate | undefined, want: "rejected" | undefined][] = [
  ["no certificate", undefined, undefined],
  ["a certificate of another authority", { ...proxy, isTrustedBy: () => false }, "rejected"],
  ["a common name that is not allowed", { ...proxy, commonName: "Front-Proxy" }, "rejected"],
  ["no common name", { ...proxy, commonName: "" }, "rejected"],
];
for (const [what, peerCertificate, want] of otherClients) {
  test(`request headers of a client with ${what}`, () => {
    const authenticate = requestHeaderAuthenticator(options, () => ({ pem: "", certificates: [] }));
    const rawHeaders = ["X-Remote-User", "ann"];
    assert.equal(
      authenticate({ peerCertificate, rawHeaders } as unknown as Exchange, { warnings: [], annotations: undefined }),
      want,
    );
  });
}

test("authenticates no request without username headers in the options", () => {
  const authenticate = requestHeaderAuthenticator({ ...options, usernameHeaders: [] }, () => ({
    pem: "",
    certificates: [],
  }));
  const exchange = {
    peerCertificate: proxy,
    rawHeaders: ["X-Remote-User", "ann", "X-Remote-Group", "g"],
  } as unknown as Exchange;
  assert.equal(authenticate(exchange, { warnings: [], annotations: undefined }), undefined);
});

const standard = (flag: string, what: string): string =>
  `--requestheader-${flag} is set without specifying the standard ${what} - API aggregation will not work`;
const optionRows: [
  what: string,
  options: Partial<RequestHeaderOptions>,
  want: readonly string[] | string,
  uids?: boolean,
][] = [
  ["standard headers in lower case", { usernameHeaders: ["x-remote-user"], uidHeaders: ["x-remote-uid"] }, []],
  [
    "no standard headers",
    { usernameHeaders: ["U"], groupHeaders: ["G"], extraHeaderPrefixes: ["E-"] },
    [
      standard("username-headers", "X-Remote-User header"),
      standard("group-headers", "X-Remote-Group header"),
      standard("extra-headers-prefix", "X-Remote-Extra- header prefix"),
    ],
  ],
  ["no standard uid header", { uidHeaders: ["U"] }, standard("uid-headers", "X-Remote-Uid header")],
  [
    "uid headers without the gate",
    { uidHeaders: ["X-Remote-Uid"] },
    '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled',
    false,
  ],
  ["an empty user header", { usernameHeaders: ["a", " "] }, 'empty value in "requestheader-username-headers"'],
  ["an empty group header", { groupHeaders: [""] }, 'empty value in "requestheader-group-headers"'],
  ["an empty prefix", { extraHeaderPrefixes: [""] }, 'empty value in "requestheader-extra-headers-prefix"'],
  ["an empty name", { allowedNames: [""] }, 'empty value in "requestheader-allowed-names"'],
  ["an empty uid header", { uidHeaders: ["X-Remote-Uid", ""] }, 'empty value in "requestheader-uid-headers"'],
];
const none: RequestHeaderOptions = {
  clientCaFile: undefined,
  allowedNames: [],
  usernameHeaders: [],
  uidHeaders: [],
  groupHeaders: [],
  extraHeaderPrefixes: [],
};
for (const [what, changes, want, uids = true] of optionRows) {
  test(`options of request headers: ${what}`, () => {
    const check = (): readonly string[] => checkRequestHeaderOptions({ ...none, ...changes }, { uids });
    if (typeof want === "string") assert.throws(check, { message: want });
    else assert.deepEqual(check(), want);
  });
}

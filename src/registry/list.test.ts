import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { systemClock } from "../apimachinery/clock.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { Resolved } from "../catalog/contract.ts";
import { parseListOptions } from "../request/list-options.ts";
import { formatContinue } from "./continue-token.ts";
import { getEntry } from "./get.ts";
import { listEntries } from "./list.ts";

let memory: MemoryRegistry;
let secrets: Resolved;
/** The revision after each of a, b, c, d was created. */
const made: number[] = [];

before(async () => {
  // Does not wait for a resourceVersion that is never reached.
  memory = await openMemoryRegistry({
    clock: { ...systemClock, after: (delay, run) => systemClock.after(Math.min(delay, 1), run) },
  });
  secrets = memory.registry.catalog.find("", "v1", "secrets") as Resolved;
  await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } });
  await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
  await memory.create(["/secrets", "other"], { apiVersion: "v1", kind: "Secret", metadata: { name: "z" } });
  for (const [name, x] of Object.entries({ a: "1", b: "2", c: "1", d: "2" })) {
    const created = await memory.create(["/secrets", "n"], {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, labels: { x } },
    });
    made.push(Number(created.metadata.resourceVersion));
  }
});
after(() => memory.close());

/** `$0` … `$3` are the revisions of a … d, `$t` a continue token after b. */
function fill(query: string): string {
  const token = formatContinue({ revision: made[3] as number, after: "b" });
  return query.replace(/\$([0-3t])/g, (_all, which) => (which === "t" ? token : String(made[Number(which)])));
}

async function outcome(query: string): Promise<string> {
  try {
    const { meta, entries } = await listEntries(
      secrets.resource,
      "n",
      parseListOptions(new URLSearchParams(fill(query))),
    );
    const names = [...entries].map(({ index }) => index.name).join("");
    const version = made.indexOf(Number(meta.resourceVersion));
    const rest = meta.remainingItemCount === undefined ? "" : ` ${meta.remainingItemCount} more`;
    return `${names} at $${version}${meta.continue === undefined ? "" : " continued"}${rest}`;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.status.code} ${error.status.message}`;
  }
}

const forbidden = 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden:';
const forbiddenAll = forbidden.replace("resourceVersionMatch", "[resourceVersionMatch");
const noVersion = "resourceVersionMatch is forbidden unless resourceVersion is provided";
const noContinue = "resourceVersionMatch is forbidden when continue is provided";
const noExactZero = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
const badToken = "invalid continue token: continue key is not valid";
const tampered = (json: string): string => `continue=${Buffer.from(json).toString("base64url")}`;
const token = (rv: number, start: string): string => tampered(JSON.stringify({ v: "meta.k8s.io/v1", rv, start }));
const unknownMatch = 'resourceVersionMatch: Unsupported value: "Odd": supported values: "Exact", "NotOlderThan", ""';
const tooLarge = (revision: string): string => `504 Timeout: Too large resource version: ${revision}, current: `;

const listRows: [query: string, want: string][] = [
  // Kubernetes docs, API Concepts, Resource versions: the table of list semantics, row by row. The
  // columns are no version, version 0, a version.
  ["", "abcd at $3"],
  ["resourceVersion=", "abcd at $3"],
  ["resourceVersion=0", "abcd at $3"],
  ["resourceVersion=$1", "abcd at $3"],
  ["limit=2", "ab at $3 continued 2 more"],
  ["limit=1&resourceVersion=", "a at $3 continued 3 more"],
  ["resourceVersion=0&limit=1", "abcd at $3"],
  ["resourceVersion=$1&limit=1", "a at $1 continued 1 more"],
  ["resourceVersion=$1&limit=2", "ab at $1"],
  ["resourceVersionMatch=Exact", `400 ${forbidden} ${noVersion}`],
  ["resourceVersion=&resourceVersionMatch=Exact", `400 ${forbidden} ${noVersion}`],
  ["resourceVersion=0&resourceVersionMatch=Exact", `400 ${forbidden} ${noExactZero}`],
  ["resourceVersion=$1&resourceVersionMatch=Exact", "ab at $1"],
  ["resourceVersionMatch=Exact&limit=1", `400 ${forbidden} ${noVersion}`],
  ["resourceVersion=0&resourceVersionMatch=Exact&limit=1", `400 ${forbidden} ${noExactZero}`],
  ["resourceVersion=$1&resourceVersionMatch=Exact&limit=1", "a at $1 continued 1 more"],
  ["resourceVersionMatch=NotOlderThan", `400 ${forbidden} ${noVersion}`],
  ["resourceVersion=0&resourceVersionMatch=NotOlderThan", "abcd at $3"],
  ["resourceVersion=$1&resourceVersionMatch=NotOlderThan", "abcd at $3"],
  ["resourceVersionMatch=NotOlderThan&limit=1", `400 ${forbidden} ${noVersion}`],
  ["resourceVersion=0&limit=1&resourceVersionMatch=NotOlderThan", "abcd at $3"],
  ["resourceVersion=$1&limit=1&resourceVersionMatch=NotOlderThan", "a at $3 continued 3 more"],
  ["resourceVersionMatch=Odd&labelSelector=,", "400 found ',', expected: !, identifier, or 'end of string'"],
  ["resourceVersionMatch=Odd", `400 ${forbiddenAll} ${noVersion}, ${unknownMatch}]`],
  ["resourceVersion=0&resourceVersionMatch=Odd", `400 ListOptions.meta.k8s.io "" is invalid: ${unknownMatch}`],
  [
    "resourceVersion=$1&resourceVersionMatch=exact&limit=1",
    `400 ListOptions.meta.k8s.io "" is invalid: ${unknownMatch.replace("Odd", "exact")}`,
  ],
  ["limit=4", "abcd at $3"],
  ["limit=0", "abcd at $3"],
  ["limit=-1", "abcd at $3"],
  ["limit=1&labelSelector=x%3D1", "a at $3 continued"],
  ["limit=2&labelSelector=x%3D1", "ac at $3 continued"],
  ["limit=2&labelSelector=x%3D2", "bd at $3"],
  ["labelSelector=x%20in%20(2)", "bd at $3"],
  ["limit=1&labelSelector=x%3D1&resourceVersion=$2&resourceVersionMatch=Exact", "a at $2 continued"],
  ["labelSelector=x%3D1&resourceVersion=$1&resourceVersionMatch=Exact", "a at $1"],
  ["fieldSelector=metadata.name%3Db", "b at $3"],
  ["fieldSelector=metadata.name%3Db&limit=1", "b at $3"],
  ["fieldSelector=metadata.name%3Db&limit=1&resourceVersion=$2", "b at $2"],
  ["fieldSelector=metadata.name%3Db&resourceVersion=$0&resourceVersionMatch=Exact", " at $0"],
  ["fieldSelector=metadata.name%3Db&labelSelector=x%3D1", " at $3"],
  ["fieldSelector=metadata.name!%3Db,type%3DOpaque", "acd at $3"],
  ["fieldSelector=metadata.namespace%3Dother", " at $3"],
  ["continue=$t", "cd at $3"],
  ["continue=$t&limit=0", "cd at $3"],
  ["continue=$t&limit=1", "c at $3 continued 1 more"],
  ["continue=$t&limit=2", "cd at $3"],
  ["continue=$t&limit=1&labelSelector=x%3D2", "d at $3"],
  ["continue=$t&fieldSelector=metadata.name%3Dd", "d at $3"],
  ["continue=$t&fieldSelector=metadata.name%3Da", " at $3"],
  ["continue=$t&limit=1&resourceVersion=", "c at $3 continued 1 more"],
  ["continue=$t&limit=1&resourceVersion=0", "cd at $3"],
  ["continue=$t&resourceVersion=$1", "400 specifying resource version is not allowed when using continue"],
  ["continue=$t&limit=1&resourceVersion=$3", "400 specifying resource version is not allowed when using continue"],
  ["continue=$t&resourceVersion=x", "400 specifying resource version is not allowed when using continue"],
  ["continue=xyz&resourceVersion=$1", `400 ${badToken}: invalid character 'Ç' looking for beginning of value`],
  ...(["Exact", "NotOlderThan"] as const).flatMap((match): [string, string][] => [
    [`continue=$t&resourceVersionMatch=${match}&resourceVersion=$1`, `400 ${forbidden} ${noContinue}`],
    [`continue=$t&resourceVersionMatch=${match}&resourceVersion=$1&limit=1`, `400 ${forbidden} ${noContinue}`],
    [
      `continue=$t&resourceVersionMatch=${match}`,
      `400 ${forbiddenAll} ${noVersion}, resourceVersionMatch: Forbidden: ${noContinue}]`,
    ],
  ]),
  [
    "continue=$t&resourceVersionMatch=Exact&resourceVersion=0&limit=1",
    `400 ${forbiddenAll} ${noContinue}, resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"]`,
  ],
  ["continue=$t&resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=1", `400 ${forbidden} ${noContinue}`],
  [
    "continue=$t&sendInitialEvents=false",
    '400 ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
  ],
  ["continue=xyz", `400 ${badToken}: invalid character 'Ç' looking for beginning of value`],
  ["continue=x.z", `400 ${badToken}: illegal base64 data at input byte 1`],
  ["continue=abcde", `400 ${badToken}: illegal base64 data at input byte 4`],
  ["continue=e30%3D", `400 ${badToken}: illegal base64 data at input byte 3`],
  [tampered("{"), `400 ${badToken}: unexpected end of JSON input`],
  [tampered("{}{"), `400 ${badToken}: invalid character '{' after top-level value`],
  [tampered("null"), `400 ${badToken}: server does not recognize this encoded version `],
  [tampered("{}"), `400 ${badToken}: server does not recognize this encoded version `],
  [tampered("[]"), `400 ${badToken}: json: cannot unmarshal array into Go value of type storage.continueToken`],
  [tampered('"x"'), `400 ${badToken}: json: cannot unmarshal string into Go value of type storage.continueToken`],
  [tampered("7"), `400 ${badToken}: json: cannot unmarshal number into Go value of type storage.continueToken`],
  [tampered("true"), `400 ${badToken}: json: cannot unmarshal bool into Go value of type storage.continueToken`],
  [
    tampered('{"v":"meta.k8s.io/v2","rv":7,"start":"a\\u0000"}'),
    `400 ${badToken}: server does not recognize this encoded version meta.k8s.io/v2`,
  ],
  [
    tampered('{"v":1}'),
    `400 ${badToken}: json: cannot unmarshal number into Go struct field continueToken.v of type string`,
  ],
  [
    tampered('{"rv":"7"}'),
    `400 ${badToken}: json: cannot unmarshal string into Go struct field continueToken.rv of type int64`,
  ],
  [
    tampered('{"rv":7.5}'),
    `400 ${badToken}: json: cannot unmarshal number 7.5 into Go struct field continueToken.rv of type int64`,
  ],
  [
    tampered('{"start":{}}'),
    `400 ${badToken}: json: cannot unmarshal object into Go struct field continueToken.start of type string`,
  ],
  [token(7, "../other/z\0"), `400 ${badToken}: ../other/z\0`],
  [token(7, "a/../b\0"), `400 ${badToken}: a/../b\0`],
  [token(7, "a//b\0"), `400 ${badToken}: a//b\0`],
  [token(7, "./a\0"), `400 ${badToken}: ./a\0`],
  [token(7, "a"), `400 ${badToken}: a`],
  [token(0, "a\0"), `400 ${badToken}: incorrect encoded start resourceVersion (version meta.k8s.io/v1)`],
  [token(7, ""), `400 ${badToken}: encoded start key empty (version meta.k8s.io/v1)`],
  [token(-1, "b\0"), "cd at $3"],
  [token(-9, "b\0"), "cd at $3"],
  [token(-1, "/b\0"), "cd at $3"],
  [token(999_999_999_999, "b\0"), tooLarge("999999999999")],
  [
    "continue=$t&resourceVersionMatch=Odd&resourceVersion=1",
    `400 ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided, ${unknownMatch}]`,
  ],
  ["limit=x", '400 strconv.ParseInt: parsing "x": invalid syntax'],
  ["resourceVersion=x&resourceVersionMatch=Odd", `400 ListOptions.meta.k8s.io "" is invalid: ${unknownMatch}`],
  [
    "resourceVersion=x",
    '400 invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  ],
  [
    "resourceVersion=18446744073709551616",
    '400 invalid resource version: resourceVersion: Invalid value: "18446744073709551616": strconv.ParseUint: parsing "18446744073709551616": value out of range',
  ],
  ["resourceVersion=999999999999", tooLarge("999999999999")],
  ["resourceVersion=999999999999&resourceVersionMatch=Exact", tooLarge("999999999999")],
  ["resourceVersion=999999999999&limit=1", tooLarge("999999999999")],
  ["resourceVersion=18446744073709551615", tooLarge("18446744073709551615")],
  [
    "sendInitialEvents=true",
    '400 ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
  ],
  ["labelSelector=x%3D1%2C", "400 found '', expected: identifier after ','"],
  ["fieldSelector=data%3Dx", "400 field label not supported: data"],
];

test("lists by options", async () => {
  for (const [query, want] of listRows) {
    const got = await outcome(query);
    assert.equal(want.startsWith("504") ? got.replace(/\d+$/, "") : got, want, query);
  }
});

test("chunks come from one state during writes", async () => {
  const chunk = async (query: string) =>
    listEntries(secrets.resource, "", parseListOptions(new URLSearchParams(query)));
  const seen: string[] = [];
  const versions = new Set<string>();
  let next: string | undefined = "";
  for (let round = 0; next !== undefined; round++) {
    const { meta, entries } = await chunk(`limit=2&continue=${next}`);
    seen.push(...[...entries].map(({ index }) => `${index.namespace}/${index.name}`));
    versions.add(meta.resourceVersion);
    next = meta.continue;
    await memory.create(["/secrets", "other"], {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `late-${round}` },
    });
    if (round === 0) await memory.delete(["/secrets", "n"], "d");
  }
  assert.deepEqual([seen, versions.size], [["n/a", "n/b", "n/c", "n/d", "other/z"], 1]);
});

test("an expired continue token is answered with one for the newest revision", async () => {
  const { storage } = memory.registry;
  const { meta } = await listEntries(secrets.resource, "", parseListOptions(new URLSearchParams("limit=1")));
  const old = formatContinue({ revision: (made[0] as number) - 1, after: "n/a" });
  await storage.compact(made[3] as number);
  const error = await listEntries(secrets.resource, "", parseListOptions(new URLSearchParams(`continue=${old}`))).catch(
    (one: unknown) => one,
  );
  assert.ok(error instanceof ApiError);
  assert.equal(error.status.code, 410);
  assert.match(error.status.message, /^The provided continue parameter is too old/);
  const rest = await listEntries(
    secrets.resource,
    "",
    parseListOptions(new URLSearchParams(`continue=${error.status.continue}`)),
  );
  assert.equal(rest.meta.resourceVersion, meta.resourceVersion);
  assert.equal([...rest.entries].at(0)?.index.name, "b");
});

test("gets an object at a resourceVersion", async () => {
  const rows: [name: string, resourceVersion: string, want: string][] = [
    ["a", "", "a"],
    ["a", "0", "a"],
    ["a", "$0", "a"],
    ["zz", "0", '404 secrets "zz" not found'],
    ["a", "-1", '500 resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax'],
    ["a", "999999999999", tooLarge("999999999999")],
  ];
  for (const [name, resourceVersion, want] of rows) {
    const got = await getEntry(secrets.resource, { namespace: "n", name, resourceVersion: fill(resourceVersion) }).then(
      ({ index }) => index.name,
      (error: ApiError) => `${error.status.code} ${error.status.message}`,
    );
    assert.equal(want.startsWith("504") ? got.replace(/\d+$/, "") : got, want);
  }
});

for (const [resource, start] of [
  ["secrets", "/a\0"],
  ["events", "a\0"], // Without a cache, the store writes the token.
] as const)
  test(`a token of ${resource} begins with ${JSON.stringify(start)}`, async () => {
    const target = memory.registry.catalog.find("", "v1", resource) as Resolved;
    const involvedObject = { namespace: "n" };
    for (const name of resource === "events" ? ["a", "b"] : [])
      await memory.create(["/events", "n"], { apiVersion: "v1", kind: "Event", metadata: { name }, involvedObject });
    const { meta } = await listEntries(target.resource, "n", parseListOptions(new URLSearchParams("limit=1")));
    assert.equal(JSON.parse(Buffer.from(meta.continue ?? "", "base64url").toString()).start, start);
  });

for (const [query, seconds] of [
  ["limit=1&resourceVersion=999999999999", 1],
  ["limit=1&resourceVersion=999999999999&fieldSelector=metadata.name=a", undefined],
  ["resourceVersion=999999999999&fieldSelector=metadata.name=a&resourceVersionMatch=Exact", undefined],
] as const)
  test(`${query} is to be tried again after ${seconds} seconds`, async () => {
    const options = parseListOptions(new URLSearchParams(query));
    await assert.rejects(
      listEntries(secrets.resource, "n", options),
      (error) => error instanceof ApiError && error.status.details?.retryAfterSeconds === seconds,
    );
  });

/**
 * The parsers that read text and bytes from outside, with input that is expensive for parsers whose
 * time is not linear: repetition, nesting, and text that is valid up to its end.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { FieldErrors } from "../../src/apimachinery/field-errors.ts";
import { pathMatches } from "../../src/apimachinery/path-pattern.ts";
import { webSocketProtocols } from "../../src/apimachinery/web-socket-protocols.ts";
import { caBundleProblem } from "../../src/apis/apiextensions/ca-bundle.ts";
import { scheduleProblem } from "../../src/apis/batch/cron-schedule.ts";
import { validateBundle } from "../../src/apis/certificates/cluster-trust-bundle.ts";
import { imageTag } from "../../src/apis/core/pod/image-name.ts";
import { publicKeysIn, staticKeys } from "../../src/authentication/service-account/keys.ts";
import { loadJose } from "../../src/authentication/service-account/load-jose.ts";
import { serviceAccountTokens } from "../../src/authentication/service-account/token.ts";
import { builtinSchema } from "../../src/catalog/builtin-schemas.ts";
import { listedInConnection } from "../../src/forwarding/proxy/hop-by-hop.ts";
import { readTag } from "../../src/forwarding/proxy/html-tag.ts";
import { dateOfText } from "../../src/lib/cbor/dates.ts";
import { decodeAnyCbor } from "../../src/lib/cbor/decode.ts";
import { kubernetesEnvironment, stringType } from "../../src/lib/cel/index.ts";
import { parseCsv } from "../../src/lib/csv/csv.ts";
import { parseDuration } from "../../src/lib/duration/duration.ts";
import { parseAddress } from "../../src/lib/go-net/addresses.ts";
import { encodeQueryAgain } from "../../src/lib/go-net/go-query.ts";
import { formatGoUrl, parseGoUrl, queryOf } from "../../src/lib/go-net/go-url.ts";
import { parseIp, parsePrefix } from "../../src/lib/ip-range/ip-address.ts";
import { parseIpRanges } from "../../src/lib/ip-range/ip-range.ts";
import { parsePortRange } from "../../src/lib/ip-range/port-range.ts";
import { parseJson } from "../../src/lib/json/parse.ts";
import { applyJsonPatch, type JsonPatchOperation } from "../../src/lib/json-patch/json-patch.ts";
import { findResults, parseTemplate } from "../../src/lib/jsonpath/index.ts";
import { readKubeconfig } from "../../src/lib/kubeconfig/kubeconfig.ts";
import { acceptedTypes, parseAccept } from "../../src/lib/media-type/accept.ts";
import { parseMediaType } from "../../src/lib/media-type/media-type.ts";
import * as names from "../../src/lib/names/names.ts";
import { decodeProtobuf } from "../../src/lib/protobuf/decode.ts";
import { canonicalQuantity, parseQuantity } from "../../src/lib/quantity/quantity.ts";
import { canonicalizeBase64 } from "../../src/lib/schema/base64.ts";
import { canonicalizeMicroTime, canonicalizeTime } from "../../src/lib/schema/time.ts";
import { parseFieldSelector } from "../../src/lib/selectors/field.ts";
import { parseLabelSelector } from "../../src/lib/selectors/label-parser.ts";
import { parseShardSelector } from "../../src/lib/selectors/shard-parser.ts";
import { parseVersion } from "../../src/lib/semantic-version/semantic-version.ts";
import { findFormat } from "../../src/lib/structural-schema/formats/formats.ts";
import { decodeFieldsV1 } from "../../src/lib/structured-merge/fields-v1.ts";
import { parseCertificates } from "../../src/lib/x509/pem.ts";
import { pemBlocks } from "../../src/lib/x509/pem-blocks.ts";
import { decodeYaml } from "../../src/lib/yaml/decode.ts";
import { splitDocuments } from "../../src/lib/yaml/split-documents.ts";
import { parseContinue } from "../../src/registry/continue-token.ts";
import { parseResourceVersion } from "../../src/registry/list-options.ts";
import { parseListOptions } from "../../src/request/list-options.ts";
import { requestInfo } from "../../src/request/request-info.ts";
import { sourceIps } from "../../src/request/source-ips.ts";

/** A parser, and texts that are made longer by repetition. */
export interface PublicParser {
  readonly name: string;
  /** An error is a result like any other. */
  readonly parse: (text: string) => unknown;
  readonly shapes: readonly Shape[];
}

/** A text: what comes once before and behind any number of units. */
export interface Shape {
  readonly before: string;
  readonly unit: string;
  readonly after: string;
}

/** @returns a text of about this length */
export function textOf({ before, unit, after: end }: Shape, length: number): string {
  return before + unit.repeat(Math.max(1, Math.floor((length - before.length - end.length) / unit.length))) + end;
}

/** Runs of the characters that grammars treat in a special way; an error, or a valid text, at the end. */
const units = [
  ..."0aA-. \t\n/,;:=&*([{\"'\\%é\0_@<#~",
  "1.",
  "a.",
  "a,",
  "a=",
  "a:",
  "1 ",
  "\r\n",
  "()",
  "[]",
  "{}",
  "/a",
];

function parser(
  name: string,
  parse: (text: string) => unknown,
  own: readonly (readonly [string, string, string])[],
): PublicParser {
  const general = units.flatMap((unit) => ["", "!"].map((end) => ({ before: "", unit, after: end })));
  return { name, parse, shapes: [...general, ...own.map(([before, unit, end]) => ({ before, unit, after: end }))] };
}

const formatNames = [
  "bsonobjectid byte cidr creditcard date datetime duration email hexcolor hostname ipv4 ipv6 isbn isbn10 isbn13",
  "k8s-long-name k8s-short-name mac password rgbcolor ssn uri uuid uuid3 uuid4 uuid5",
].join(" ");

const formatShapes = [
  ["a@", "a.", "b"],
  ["", '"a" ', "<a@b"],
  ["", "a ", "<a@b.c>x"],
  ["", "<", "a@b>"],
  ["a@b", "(", ""],
  ["", "=?utf-8?q?a?= ", "<a@b"],
  ["rgb(", " ", "1,2"],
  ["", "1 ", "h"],
  ["", "1s", "x"],
  ["aa:", "aa:", "a"],
  ["http://", "a%20", "%"],
] as const;

const nameFunctions = Object.entries(names).filter(
  ([name]) => name.endsWith("Problems") && name !== "portNumberProblems",
);

const environment = kubernetesEnvironment([1, 36]).extend({ variables: [{ name: "self", type: stringType }] });

const celOfText = [
  "self.trim()",
  "double(self)",
  "int(self)",
  "uint(self)",
  "duration(self)",
  "timestamp(self)",
  "bool(self)",
  "isQuantity(self)",
  "quantity(self).asApproximateFloat()",
  "isURL(self)",
  "url(self).getQuery()",
  "isIP(self)",
  "isCIDR(self)",
  "isSemver(self)",
  "semver(self, true)",
  "self.split(',')",
  "self.replace('0', 'ab')",
  "self.lowerAscii()",
  "self.matches('^(a+)+$')",
  "self.find('[0-9]+x')",
  "self.findAll('a+b')",
  "strings.quote(self)",
  "self.indexOf('ab')",
  "self.lastIndexOf('ab')",
  "self.startsWith('a')",
  "bytes(self)",
  "self.substring(3)",
  "self.charAt(5)",
  "self == self + 'a'",
  "'%s'.format([self])",
  "format.dns1123Label().validate(self)",
  "format.date().validate(self)",
];

function celEvaluators(): PublicParser[] {
  return celOfText.map((expression) => {
    const program = environment.plan(environment.compile(expression));
    return parser(`CEL ${expression}`, (text) => program.evaluate(new Map([["self", text]])), [
      ["0x", "1", "p"],
      ["", "1_", ""],
      ["", "1", "x"],
      ["", "\u2003", "x"],
      ["x", " ", "x"],
      ["2006-01-02T15:04:05.", "0", "x"],
    ]);
  });
}

const celText = parser("CEL", (text) => environment.compile(text), [
  ["", "a+", "a"],
  ["", "(", "a"],
  ["", "[1,", "]"],
  ["", "a.", ""],
  ["", "a[", ""],
  ["", "!", "a"],
  ["", "-", "1"],
  ["", "a?b:", "c"],
  ["", "a&&", ")"],
  ["", "{1:", "1"],
  ["a ", "/", "\n)"],
  ["a ( ", "// /", "\n )"],
  ["a ", "//\n", ") ]"],
  ["[1 ", "\n", " 2 3]"],
  ["f(", "a,", ""],
  ["", '"a"', ""],
  ["", "'''", ""],
  ["", '"""a', ""],
  ["'", "\\\\", ""],
  ["'", "\\n", "\\q'"],
  ["", "`a", ""],
  ["", "1 ", ""],
  ["", "$ ", ""],
  ["", "[].all(x, ", "true"],
  ["", "a.b(c).", "d"],
  ["T{", "a:1,", ""],
]);

const configMap = builtinSchema("io.k8s.api.core.v1.ConfigMap");
const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const bodyOf = (text: string): unknown => parseJson(bytesOf(text)).value;

const bodies: readonly PublicParser[] = [
  parser("JSON", (text) => parseJson(bytesOf(text)), [
    ["", "[", ""],
    ["", '{"a":', ""],
    ["[", "1,", "1]"],
    ["[", '"\\u00e9",', "1]"],
    ["{", '"a":1,', '"b":2}'],
    ['"', "\\", '"'],
    ["", "9", ""],
    ["[", "-0.1e5,", "x]"],
  ]),
  parser("documents of YAML", (text) => splitDocuments(bytesOf(text)), [
    ["", "---\n", ""],
    ["a: 1\n", "---\nb: 1\n", "...\n"],
    ["", "%A\n", "---\n"],
    ["", "...\n", "a"],
    ["", "# a\n---\n", ""],
  ]),
  parser("YAML", (text) => decodeYaml(bytesOf(text)), [
    ["", "- ", "a"],
    ["", "? ", "a"],
    ["", "- a\n", "b"],
    ["", "a: 1\n", ""],
    ["", "[", ""],
    ["", "{a: ", ""],
    ["a: |\n", "  b\n", ""],
    ["a: >\n", "  b\n\n", ""],
    ['a: "', "b\\\n ", '"'],
    ["a: '", "b''", "'"],
    ["", "&a ", "b"],
    ["- &a b\n", "- *a\n", ""],
    ["", "!!str ", "a"],
    ["", "# a\n", ""],
    ["", "---\n", ""],
    ["", "%A\n", ""],
    ["a: b", " ", "# c"],
    ["a: ", "1_0", ""],
    ["a: ", "b c ", ": d"],
    ["[", "a, ", "]"],
    ["", "a\n", "b: c"],
  ]),
  parser("CBOR", (text) => decodeAnyCbor(bytesOf(text)), [
    ["", "\x81", ""],
    ["", "\x9f", ""],
    ["", "\xa1\x41a", ""],
    ["\xbf", "\x41a\x01", "\xff"],
    ["\xa1\x41a\x9f", "\x01", "\xff"],
    ["\xa1\x41a\x5f", "\x41a", "\xff"],
    ["", "\xc0", ""],
  ]),
  parser("protobuf", (text) => decodeProtobuf(bytesOf(text), configMap), [
    ["", "\x0a\x00", ""],
    ["", "\x12\x00", ""],
    ["", "\x12\x04\x0a\x01a\x12", ""],
    ["", "\x0b", ""],
    ["", "\x80", ""],
    ["", "\xff\x01", ""],
  ]),
  parser("JSON Patch", (text) => applyJsonPatch({ a: [] }, bodyOf(text) as JsonPatchOperation[]), [
    ["[", '{"op":"add","path":"/a/-","value":1},', '{"op":"test","path":"/a","value":0}]'],
    ["[", '{"op":"add","path":"/a/0","value":1},', '{"op":"test","path":"/a","value":0}]'],
    ["[", '{"op":"add","path":"/b","value":{}},', '{"op":"remove","path":"/c"}]'],
    ['[{"op":"add","path":"', "/a", '","value":1}]'],
    ['[{"op":"add","path":"', "~1", '","value":1}]'],
  ]),
  parser("JSONPath", (text) => findResults(parseTemplate(text), { a: [{ b: 1 }] }), [
    ["{", ".a", "}"],
    ["{.a[", "1,", "]}"],
    ["{.a[?(@.b", "=", "\r)]}"],
    ["{.a[?(@.b", "==1 ", ")]}"],
    ["{.a[", " ,", "]}"],
    ["{", "..a", "}"],
    ["{", "[?(", "}"],
    ["{", "{.a}", ""],
    ["", "{.a}", ""],
    ["{", '"a"', "}"],
    ["{", "1", "x}"],
    ["", "{range .a[*]}", "{end}"],
    ["{'", "\\'", "'}"],
  ]),
  parser("fieldsV1", (text) => decodeFieldsV1(bodyOf(text)), [
    ["{", '"f:a":{},', '"f:b":{}}'],
    ['{"k:{', '\\"a\\":1,', '\\"b\\":1}":{}}'],
    ['{"v:\\"', "a", '":{}}'],
    ['{"v:', "[", '":{}}'],
    ['{"k:{\\"a\\":', "[", '}":{}}'],
    ['{"f:', "a", '":{}}'],
  ]),
];

const pemShapes = [
  ["", "-----BEGIN A-----\n", "-----END A-----\n"],
  ["", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", ""],
  ["", "-----BEGIN A-----\n", "\n-----END B-----     "],
  ["", "-----BEGIN A-----\nAA==\n-----END A-----\n", ""],
  ["", "-----BEGIN A-----\na: b\n", "-----END A-----\n"],
  ["-----BEGIN CERTIFICATE-----\n", "AAAA", "!\n-----END CERTIFICATE-----\n"],
  ["-----BEGIN CERTIFICATE-----\n", " ", "x\n-----END CERTIFICATE-----\n"],
  ["-----BEGIN CERTIFICATE-----\n", "AA \n", "\n-----END CERTIFICATE-----\n"],
  ["", "-----BEGIN CERTIFICATE-----", ""],
  ["-----BEGIN ", "A", ""],
  ["", "-----BEGIN A", "\n"],
] as const;

const timeShapes = [
  ["2006-01-02T15:04:05.", "0", "Z"],
  ["2006-01-02T15:04:05.", "0", "x"],
  ["2006-01-02T15:04:05.", "0", "+"],
  ["", "2006-", ""],
] as const;

const addressShapes = [
  ["", "0", "1.2.3.4"],
  ["", "0", ".0.0.0x"],
  ["::", "0", ""],
  ["", "::", ""],
  ["", "1:", ""],
  ["", "1.", "1"],
  ["fe80::1%", "a", ""],
  ["1.2.3.4/", "0", "1"],
] as const;

const selectorShapes = [
  ["", "a=b,", "c"],
  ["a in (", "b,", ")"],
  ["a in (", "b ", ")"],
  ["", "a,", "!"],
  ["a", " ", "= b"],
  ["", "!", "a"],
  ["a > ", "1", ""],
  ["", "a!=b,", ""],
  ["", "a\\", "=b"],
] as const;

const info = (target: string): unknown => requestInfo("GET", target);
const header =
  (name: string) =>
  (text: string): unknown =>
    sourceIps({ remote: { address: "10.0.0.1", port: 1 }, header: (asked) => (asked === name ? text : undefined) });

const requests: readonly PublicParser[] = [
  parser("paths", info, [
    ["/", "/", "a/"],
    ["/apis/", "/", "x"],
    ["/api/v1/", "a/", "x"],
    ["/", "%2f", "%"],
    ["/", "%41", "/"],
  ]),
  parser("queries", (text) => info(`/api/v1/pods?${text}`), [
    ["", "a&", ""],
    ["", "watch=1&", ""],
    ["labelSelector=", "a%2C", ""],
    ["fieldSelector=metadata.name%3D", "a", ""],
    ["", "%", ""],
    ["", "a+", "=b"],
  ]),
  parser("list options", (text) => parseListOptions(new URLSearchParams({ limit: text })), [["", "1", ""]]),
  parser("resource versions", (text) => parseResourceVersion(text, "get"), [["", "1", ""]]),
  parser("queries for backends", encodeQueryAgain, [
    ["", "a=b&", ""],
    ["", "%zz", ""],
  ]),
  parser("Accept", (text) => [parseAccept(text), acceptedTypes(text)], [
    ["", "a/b,", "c"],
    ["a/b", ";q=1", ""],
    ["a/b;", " ", "q=1"],
    ["a/b;q=", "0", ""],
    ['a/b;q="', "\\", '"'],
  ]),
  parser("media types", parseMediaType, [
    ["a/b", ";a=b", ""],
    ["a/b;", " ", "x"],
    ["a/b", " ; ", ""],
    ["a/b", ' ; a = "b" ', "x"],
    ['a/b;a="', "\\a", ""],
    ["", "a", "/"],
  ]),
  parser("X-Forwarded-For", header("x-forwarded-for"), [
    ["", "000.000.000.000,", ""],
    ["", "1.2.3.4,", ""],
    ...addressShapes,
  ]),
  parser("X-Real-Ip", header("x-real-ip"), addressShapes),
  parser("Sec-WebSocket-Protocol", (text) => webSocketProtocols(["sec-websocket-protocol", text]), [
    ["", "a, ", "b"],
    ["base64url.bearer.authorization.k8s.io.", "a", ""],
  ]),
  parser("Connection", listedInConnection, [["", "a, ", "b"]]),
  parser("path patterns", (text) => pathMatches(`${text}*`, "/healthz"), [["", "*", "x"]]),
  parser("label selectors", parseLabelSelector, selectorShapes),
  parser("field selectors", parseFieldSelector, selectorShapes),
  parser("shard selectors", parseShardSelector, [
    ["", "shardRange(object.metadata.uid, '0x0', '0x1') || ", ""],
    ["shardRange(object.metadata.uid, '0x", "0", "')"],
    ["", "(", ""],
  ]),
  parser("HTML tags", (text) => readTag(text, 0), [
    ["<a ", "b ", ">"],
    ["<a ", "b=c ", ">"],
    ["<a b", " ", "c>"],
    ["<a ", "=", ">"],
    ["<a b='", "c", ""],
  ]),
];

const values: readonly PublicParser[] = [
  parser("continue tokens", (text) => parseContinue(Buffer.from(text).toString("base64url")), [
    ['{"v":"meta.k8s.io/v1","rv":1,"start":"', "a/", '"}'],
    ['{"v":"', "\\", '"}'],
  ]),
  parser("CSV", parseCsv, [
    ["", '"a",', "b"],
    ['"', '""', ""],
    ["", "a\n", '"'],
  ]),
  parser("image names", imageTag, [
    ["", "a/", "b"],
    ["", "a-", "b"],
    ["a:", "b", "!"],
    ["a@", "b+", ":0"],
  ]),
  parser("quantities", (text) => [parseQuantity(text)], [
    ["", "0", "x"],
    ["1.", "0", "Ki"],
    ["1e", "1", ""],
  ]),
  parser("canonical quantities", canonicalQuantity, [
    ["", " ", "1"],
    ["1", "0", "m"],
  ]),
  parser("times", canonicalizeTime, timeShapes),
  parser("times with microseconds", canonicalizeMicroTime, timeShapes),
  parser("times in CBOR", dateOfText, timeShapes),
  parser("durations", parseDuration, [
    ["", "1h", "x"],
    ["", "0", "s"],
    ["0.", "0", "s"],
    ["", "0ns", ""],
    ["1", "h", ""],
  ]),
  parser("base64", canonicalizeBase64, [
    ["", "AA", "="],
    ["", "AAAA\n", "!"],
    ["", "=", ""],
  ]),
  parser("versions", parseVersion, [
    ["1.2.3-", "a.", "a"],
    ["1.2.3-", "1", ""],
    ["", "1", ".2.3"],
    ["1.2.3+", "a.", ""],
  ]),
  parser("schedules", scheduleProblem, [
    ["", "1,", "2 * * * *"],
    ["", " ", "* * * *"],
    ["@every ", "1h", ""],
    ["TZ=", "a", " * * * * *"],
    ["*/", "1", " * * * *"],
  ]),
  parser("IP addresses", (text) => [parseIp(text), parsePrefix(text)], addressShapes),
  parser("IP addresses of Go", parseAddress, addressShapes),
  parser("IP ranges", parseIpRanges, [...addressShapes, ["", "10.0.0.0/8,", ""]]),
  parser("port ranges", parsePortRange, [
    ["1-", "1", ""],
    ["", "1", "+2"],
  ]),
  parser("URLs", (text) => formatGoUrl(parseGoUrl(text)), [
    ["http://a?", "b=c&", ""],
    ["http://", "a@", "b"],
    ["http://[", ":", "]"],
    ["http://a:", "1", ""],
    ["http://a/", "%41", "#%"],
    ["a", "b", ":c"],
  ]),
  parser("queries of URLs", (text) => queryOf(parseGoUrl(`/?${text}`)), [
    ["", "b=c&", ""],
    ["", "b&", ""],
  ]),
  ...formatNames.split(" ").map((name) => parser(`format ${name}`, findFormat(name) as never, formatShapes)),
  ...nameFunctions.map(([name, check]) =>
    parser(name, check as never, [
      ["", "a-", ""],
      ["", "a/", "b"],
      ["*.", "a.", ""],
      ["", "a--", "a"],
    ]),
  ),
];

const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const tokens = serviceAccountTokens({
  keys: staticKeys(publicKeysIn(publicKey.export({ type: "spki", format: "pem" }).toString())),
  issuers: ["https://issuer"],
  apiAudiences: ["api"],
  lookup: true,
  live: { find: () => undefined, read: () => undefined, async waitUntilCurrent() {} },
  clock: { now: () => 0 } as never,
});

const files: readonly PublicParser[] = [
  parser("PEM", pemBlocks, pemShapes),
  parser("certificates", parseCertificates, pemShapes),
  parser("keys", publicKeysIn, pemShapes),
  parser("CA bundles", (text) => caBundleProblem(Buffer.from(text).toString("base64")), pemShapes),
  parser("ClusterTrustBundles", (text) => validateBundle(text, new FieldErrors()), pemShapes),
  parser("JWT", (text) => tokens(text, ["api"]), [
    ["", "a.", "a"],
    ["e30.", "a", ".a"],
    ["", "a", ".b.c"],
    [`${Buffer.from('{"alg":"ES256"}').toString("base64url")}.`, "W1tb", ".a"],
  ]),
];

/** @returns the parser of kubeconfig files; its directory is removed after the tests */
function kubeconfigs(): PublicParser {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-growth-"));
  const file = join(directory, "config");
  after(() => rmSync(directory, { recursive: true }));
  const parse = (text: string): Promise<unknown> => {
    writeFileSync(file, text);
    return readKubeconfig(file);
  };
  return parser("kubeconfig", parse, [
    ["clusters:\n", "- name: a\n  cluster: {server: https://a}\n", ""],
    ["users: [", "{name: a},", "]"],
    ["contexts:\n", "- context:\n", ""],
  ]);
}

/** All parsers. Called in a test file: it registers a hook that removes a temporary directory. */
export async function publicParsers(): Promise<readonly PublicParser[]> {
  await loadJose();
  return [...requests, ...values, ...files, ...bodies, kubeconfigs(), celText, ...celEvaluators()];
}

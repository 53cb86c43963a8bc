/**
 * Texts from outside that once stopped the event loop, with variants. The limit of each: 5 ms of the
 * processor, and 5 ms more for each 100 KB; 25 ms in the expression language.
 */
import { pathMatches } from "../../src/apimachinery/path-pattern.ts";
import { createDiscovery } from "../../src/http/endpoints/discovery.ts";
import { kubernetesEnvironment, stringType } from "../../src/lib/cel/index.ts";
import { parseDuration } from "../../src/lib/duration/duration.ts";
import { parseQuantity } from "../../src/lib/quantity/quantity.ts";
import { canonicalizeTime } from "../../src/lib/schema/time.ts";
import { findFormat } from "../../src/lib/structural-schema/formats/formats.ts";
import { parseCertificates } from "../../src/lib/x509/pem.ts";
import { requestInfo } from "../../src/request/request-info.ts";
import { sourceIps } from "../../src/request/source-ips.ts";
import { builtinCatalog } from "./builtin-catalog.ts";
import { ask } from "./request-context.ts";

/** A text, and what reads it. An error is a result like any other. */
export interface ExpensiveText {
  readonly name: string;
  readonly text: string;
  readonly read: (text: string) => unknown;
  readonly msPer100KB: number;
}

const of = (
  msPer100KB: number,
  read: ExpensiveText["read"],
  texts: Readonly<Record<string, string>>,
): ExpensiveText[] => Object.entries(texts).map(([name, text]) => ({ name, text, read, msPer100KB }));

const plain = 5;
const cel = 25;

const discovery = createDiscovery({ catalog: builtinCatalog(), serverAddress: () => "127.0.0.1:6443", paths: [] });
const get = (target: string): unknown => requestInfo("GET", target);
const ipsOf =
  (name: string) =>
  (text: string): unknown =>
    sourceIps({ remote: { address: "10.0.0.1", port: 1 }, header: (asked) => (asked === name ? text : undefined) });

const environment = kubernetesEnvironment([1, 36]).extend({ variables: [{ name: "self", type: stringType }] });
const evaluating = (expression: string) => {
  const program = environment.plan(environment.compile(expression));
  return (text: string): unknown => program.evaluate(new Map([["self", text]]));
};

const slashes = "/".repeat(1_000_000);
const zeros = "0".repeat(65);

const requests: readonly ExpensiveText[] = [
  ...of(plain, get, {
    "a path of slashes": `/${slashes}a/`,
    "a path of slashes at the end": `/api/v1/pods${slashes}`,
    "a path of slashes behind a resource": `/api/v1/pods${slashes}x`,
    "a path of escaped slashes": `/${"%2f".repeat(100_000)}a/`,
    "a query of empty parameters": `/api/v1/pods?${"a&".repeat(300_000)}`,
    "a query of ampersands": `/healthz?${"&".repeat(1_000_000)}`,
    "a query with one parameter many times": `/api/v1/pods?${"watch=1&".repeat(100_000)}`,
    "a query of escapes": `/api/v1/pods?labelSelector=${"%41".repeat(100_000)}`,
  }),
  ...of(plain, (path) => ask(discovery.apis, { path }), {
    "slashes in discovery": `/apis/${slashes}x`,
    "slashes behind a group": `/apis/apps${slashes}`,
    "slashes behind a version": `/apis/apps/v1${slashes}v`,
    "slashes and one group": `/${slashes}apis/apps/`,
  }),
  ...of(plain, (pattern) => pathMatches(pattern, "/healthz"), {
    "a path pattern of stars": `${"*".repeat(1_000_000)}x*`,
    "a path pattern that ends with stars": `/a${"*".repeat(1_000_000)}`,
    "a path pattern of stars and slashes": `${"*/".repeat(500_000)}*`,
    "a path pattern of stars alone": "*".repeat(1_000_000),
  }),
  ...of(plain, ipsOf("x-real-ip"), {
    "zeros in X-Real-Ip": `${zeros}.${zeros}.${zeros}.${zeros}x`,
    "a long address in X-Real-Ip": `${"0".repeat(250_000)}.1.2.3`,
    "dots in X-Real-Ip": "1.".repeat(500_000),
    "colons in X-Real-Ip": ":".repeat(1_000_000),
    "an address without a meaning in X-Real-Ip": "999.999.999.999",
  }),
  ...of(plain, ipsOf("x-forwarded-for"), {
    "zeros in X-Forwarded-For": `${zeros}.${zeros}.${zeros}.${zeros}x,`.repeat(3),
    "commas in X-Forwarded-For": ",".repeat(1_000_000),
    "spaces in X-Forwarded-For": `1${" ".repeat(1_000_000)}2`,
    "many addresses in X-Forwarded-For": "010.001.000.1,".repeat(70_000),
  }),
];

const compile = (text: string): unknown => environment.compile(text);

const expressions: readonly ExpensiveText[] = [
  ...of(cel, compile, {
    "slashes in an expression with an error": `a ${"/".repeat(60)}\n)`,
    "comments in an expression with an error": `a ( ${"// / /\n".repeat(12_000)})b`,
    "slashes between lines of an expression with an error": `a\n${"/\n".repeat(40_000)}) ]`,
    "spaces in an expression with an error": `a ( ${" \n".repeat(40_000)} ) ) //`,
    "an expression of wrong characters": "$ ".repeat(40_000),
  }),
  ...of(cel, evaluating("double(self)"), {
    "digits in a double": `${"1".repeat(100_000)}x`,
    "digits in a hexadecimal double": `0x${"1".repeat(100_000)}`,
    "underscores in a double": `0x_${"1_".repeat(50_000)}`,
    "digits and an exponent in a double": `1.${"1".repeat(100_000)}e`,
  }),
  ...of(cel, evaluating("self.trim()"), {
    "spaces in a text to trim": `x${" ".repeat(100_000)}x`,
    "odd spaces in a text to trim": `x${"\u2003\u3000".repeat(50_000)}x`,
    "spaces around a text to trim": `${" ".repeat(50_000)}x${"\t".repeat(50_000)}`,
    "lines in a text to trim": `x${"\n x".repeat(30_000)}`,
  }),
  ...of(cel, evaluating("isQuantity(self)"), {
    "zeros in isQuantity": `${"0".repeat(1000)}x`,
    "many zeros in isQuantity": `${"0".repeat(100_000)}x`,
    "zeros behind a point in isQuantity": `1.${"0".repeat(1000)}Kx`,
    "units in isQuantity": `1${"Ki".repeat(500)}`,
  }),
  ...of(cel, evaluating("'%.300f'.format([double(self)])"), { "a long number to format": `1${"0".repeat(308)}` }),
];

const values: readonly ExpensiveText[] = [
  ...of(plain, findFormat("email") as ExpensiveText["read"], {
    "an email address with a long name": `${"a".repeat(30)}<`,
    "an email address with many words": `${"a ".repeat(50_000)}<`,
    "an email address with quoted words": `${'"a" '.repeat(25_000)}<a@b>x`,
    "an email address with comments": `a@b${"(".repeat(100_000)}`,
    "an email address of dots": `${"a.".repeat(50_000)}@b`,
  }),
  ...of(plain, findFormat("duration") as ExpensiveText["read"], {
    "digits in a duration": "1".repeat(300_000),
    "digits and spaces in a duration": "1 ".repeat(150_000),
    "a long factor in a duration": `${"1".repeat(300_000)} weeks`,
  }),
  ...of(plain, parseQuantity, {
    "zeros in a quantity": `${"0".repeat(1000)}x`,
    "digits in a quantity": `${"1".repeat(1000)}.${"1".repeat(10)}x`,
    "an exponent of a quantity": `1e${"1".repeat(1000)}x`,
    "a quantity that is too long": "1".repeat(1_000_000),
  }),
  ...of(plain, canonicalizeTime, {
    "a fraction of a time": `2006-01-02T15:04:05.${"0".repeat(300_000)}x`,
    "a time of digits": "2".repeat(300_000),
    "a time of control characters": "\t".repeat(100_000),
    "a time of other characters": "é".repeat(100_000),
  }),
  ...of(plain, parseDuration, {
    "zeros in a Go duration": `${"0".repeat(300_000)}s`,
    "parts of a Go duration": `${"0ns".repeat(30_000)}x`,
    "a fraction of a Go duration": `1.${"1".repeat(300_000)}h`,
  }),
  ...of(plain, parseCertificates, {
    "spaces in PEM": `-----BEGIN CERTIFICATE-----\n${" ".repeat(300_000)}x\n-----END CERTIFICATE-----\n`,
    "begin marks in PEM": `${"-----BEGIN CERTIFICATE-----\n".repeat(10_000)}-----END CERTIFICATE-----\n`,
    "begin marks before a long end mark in PEM": `${"-----BEGIN A-----\n".repeat(6000)}\n-----END B${" ".repeat(200_000)}`,
    "labels in PEM": `${"-----BEGIN A".repeat(30_000)}\n`,
  }),
];

/** All texts. */
export const expensiveTexts: readonly ExpensiveText[] = [...requests, ...expressions, ...values];

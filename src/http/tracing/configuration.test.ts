/** TracingConfigurations, with the messages of kube-apiserver 1.36.0 for the same files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readTracingConfiguration, type TracingConfiguration } from "./configuration.ts";

const head = (version: string): string =>
  `apiVersion: apiserver.config.k8s.io/${version}\nkind: TracingConfiguration\n`;

const valid: readonly (readonly [text: string, expected: TracingConfiguration])[] = [
  ["", {}],
  [head("v1"), {}],
  [`${head("v1beta1")}endpoint: localhost:4317\n`, { endpoint: "localhost:4317" }],
  [
    `${head("v1alpha1")}endpoint: unix:///run/a.sock\nsamplingRatePerMillion: 0\n`,
    { endpoint: "unix:///run/a.sock", samplingRatePerMillion: 0 },
  ],
  [`${head("v1")}samplingRatePerMillion: 1000000\n`, { samplingRatePerMillion: 1_000_000 }],
];
for (const [text, expected] of valid)
  test(`accepts ${JSON.stringify(text)}`, () =>
    assert.deepEqual(readTracingConfiguration(Buffer.from(text)), expected));

const decoding = "failed to read tracing config: unable to decode tracing configuration data";
const validation = "failed to validate tracing configuration";
const schemes =
  "Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md";
const rejected: readonly (readonly [text: string, message: string])[] = [
  [`${head("v1")}endpiont: a\n`, `${decoding}: strict decoding error: unknown field "endpiont"`],
  [
    `${head("v1")}samplingRatePerMillion: x\n`,
    `${decoding}: json: cannot unmarshal string into Go struct field TracingConfiguration.TracingConfiguration.samplingRatePerMillion of type int32`,
  ],
  [
    head("v2"),
    `${decoding}: no kind "TracingConfiguration" is registered for version "apiserver.config.k8s.io/v2" in scheme "pkg/runtime/scheme.go:111"`,
  ],
  [
    "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n",
    `${decoding}: converting (v1.EncryptionConfiguration) to (apiserver.TracingConfiguration): unknown conversion`,
  ],
  [
    `${head("v1beta1")}samplingRatePerMillion: -1\n`,
    `${validation}: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive`,
  ],
  [
    `${head("v1beta1")}samplingRatePerMillion: 1000001\nendpoint: http://x:1\n`,
    `${validation}: [samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million, endpoint: Invalid value: "http://x:1": unsupported scheme: http.  ${schemes}]`,
  ],
  [
    `${head("v1alpha1")}endpoint: "a b%zz"\n`,
    `${validation}: endpoint: Invalid value: "dns://a b%zz": parse "dns://a b%zz": invalid character " " in host name`,
  ],
];
for (const [text, message] of rejected)
  test(`rejects ${JSON.stringify(text)}`, () =>
    assert.throws(() => readTracingConfiguration(Buffer.from(text)), { message }));

/**
 * Reads a TracingConfiguration, with upstream's messages.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/server/options/tracing.go and
 * k8s.io/component-base@v0.36.0/tracing/api/v1/config.go.
 */
import {
  aggregated,
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
} from "../../apimachinery/configuration-file.ts";
import { configKind, int32, text } from "../../apimachinery/configuration-schema.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { GoUrlError, parseGoUrl } from "../../lib/go-net/go-url.ts";

/** A validated configuration. */
export interface TracingConfiguration {
  /** Of the collector, without TLS: `host:port`, or with a scheme of gRPC, such as `unix:///run/collector.sock`. */
  readonly endpoint?: string;
  /** How many requests of a million are recorded, of those that continue no trusted trace. */
  readonly samplingRatePerMillion?: number;
}

const group = "apiserver.config.k8s.io";

const kinds: readonly ConfigurationKind[] = ["v1alpha1", "v1beta1", "v1"].map((version) => ({
  apiVersion: `${group}/${version}`,
  kind: "TracingConfiguration",
  schema: configKind(`${version}.TracingConfiguration`, {
    endpoint: { type: text, pointer: true },
    samplingRatePerMillion: { type: int32, pointer: true },
  }),
}));

/** The location in upstream's error messages where the kinds are registered. */
const scheme = "pkg/runtime/scheme.go:111";
/** Further kinds that are registered there, by version. */
const otherKinds: readonly (readonly [version: string, kind: string])[] = [
  ["v1", "AdmissionConfiguration"],
  ["v1", "EncryptionConfiguration"],
  ...["v1", "v1beta1", "v1alpha1"].flatMap((version) => [
    [version, "AuthenticationConfiguration"] as const,
    [version, "AuthorizationConfiguration"] as const,
  ]),
];

/** @throws Error with upstream's message */
export function readTracingConfiguration(bytes: Buffer): TracingConfiguration {
  const configuration = decode(bytes);
  const problem = aggregated(validate(configuration));
  if (problem !== undefined) throw new Error(`failed to validate tracing configuration: ${problem}`);
  return configuration;
}

/** An empty file is a configuration without fields. */
function decode(bytes: Buffer): TracingConfiguration {
  if (bytes.length === 0) return {};
  try {
    const { endpoint, samplingRatePerMillion } = decodeConfiguration(bytes, kinds, scheme)
      .object as TracingConfiguration;
    return {
      ...(endpoint !== undefined && { endpoint }),
      ...(samplingRatePerMillion !== undefined && { samplingRatePerMillion }),
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const why = messageOf(error);
    throw new Error(`failed to read tracing config: unable to decode tracing configuration data: ${why}`);
  }
}

/** Upstream's decoder knows further kinds, and the fields are those of an embedded struct there. */
function messageOf({ message }: ConfigurationError): string {
  const other = otherKinds.find(([version, kind]) =>
    message.startsWith(`no kind "${kind}" is registered for version "${group}/${version}"`),
  );
  if (other !== undefined)
    return `converting (${other.join(".")}) to (apiserver.TracingConfiguration): unknown conversion`;
  return message.replace("Go struct field TracingConfiguration.", "$&TracingConfiguration.");
}

function validate({ endpoint, samplingRatePerMillion: rate }: TracingConfiguration): FieldErrors {
  const errors = new FieldErrors();
  if (rate !== undefined && rate < 0) errors.invalid("samplingRatePerMillion", rate, "sampling rate must be positive");
  if (rate !== undefined && rate > 1_000_000) {
    const why = "sampling rate per million must be less than or equal to one million";
    errors.invalid("samplingRatePerMillion", rate, why);
  }
  if (endpoint !== undefined) validateEndpoint(endpoint.includes("//") ? endpoint : `dns://${endpoint}`, errors);
  return errors;
}

function validateEndpoint(endpoint: string, errors: FieldErrors): void {
  try {
    const { scheme: found } = parseGoUrl(endpoint);
    if (found === "dns" || found === "unix" || found === "unix-abstract") return;
    const options = "Options are none, dns, unix, or unix-abstract";
    const why = `unsupported scheme: ${found}.  ${options}.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`;
    errors.invalid("endpoint", endpoint, why);
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    errors.invalid("endpoint", endpoint, error.message);
  }
}

/** src/apimachinery/data/types.json: every built-in type in a compact form. The format is in src/catalog/types-table.ts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FieldExtras, FieldRow, TypeRow } from "../../src/catalog/types-table.ts";

/** A field, an item of a list or a value of a map in the facts. */
interface FactType {
  type: string;
  format?: string;
  ref?: string;
  items?: FactType;
  values?: FactType;
  enum?: string[];
}

interface FactField extends FactType {
  ptr?: boolean;
  omitempty?: boolean;
  omitzero?: boolean;
  required?: boolean;
  inline?: boolean;
  pb?: number;
  pbType?: string;
  pbName?: string;
  listType?: string;
  listMapKeys?: string[];
  mapType?: string;
  structType?: string;
  patchStrategy?: string;
  patchMergeKey?: string;
  default?: unknown;
  featureGate?: string[];
  dropsHolder?: true;
  dv?: string[];
  typeDv?: string[];
  oneOf?: string;
  zeroOrOneOf?: string;
  unionDiscriminator?: boolean;
}

interface FactDefinition {
  go: string;
  proto?: string;
  swagger?: boolean;
  gvk?: { group: string; version: string; kind: string }[];
  special?: string;
  structType?: string;
  everyGroupVersion?: boolean;
  dv?: string[];
  unions?: unknown[];
  fields?: Record<string, FactField>;
}

type Facts = Record<string, FactDefinition>;

/** Named Go types of fields, which decoding errors print, by definition and field. */
type GoNames = Record<string, Record<string, string[]>>;

export function generateTypes(factsDir: string, dataDir: string): void {
  const facts: Facts = JSON.parse(readFileSync(join(factsDir, "types.json"), "utf8"));
  const goNames: GoNames = JSON.parse(readFileSync(join(import.meta.dirname, "go-names.json"), "utf8"));
  const lines = Object.entries(facts).map(([name, definition]) => {
    return `${JSON.stringify(name)}:${JSON.stringify(typeRow(facts, definition, goNames[name] ?? {}))}`;
  });
  writeFileSync(join(dataDir, "types.json"), `{\n${lines.join(",\n")}\n}\n`);
}

function typeRow(facts: Facts, definition: FactDefinition, goNames: Record<string, string[]>): TypeRow {
  return {
    ...(definition.gvk !== undefined && {
      gvk: definition.gvk.map(({ group, version, kind }) => [group, version, kind] as const),
    }),
    ...(definition.everyGroupVersion && { everyGroupVersion: true as const }),
    ...(definition.proto === undefined && { protobuf: false as const }),
    ...(definition.swagger === false && { openApi: false as const }),
    ...(definition.structType === "atomic" && { atomic: true as const }),
    ...(definition.dv !== undefined && { markers: definition.dv }),
    ...(definition.unions !== undefined && { unions: definition.unions }),
    ...(definition.special !== undefined && { special: definition.special }),
    ...(definition.fields !== undefined && {
      fields: Object.entries(definition.fields).map(([name, field]) =>
        fieldRow(facts, name, { ...field, ...mended[`${definition.go}.${name}`] }, goNames[name]),
      ),
    }),
  };
}

/** Corrections of the facts. */
const mended: Readonly<Record<string, Partial<FactField>>> = {
  "k8s.io/api/discovery/v1.EndpointSlice.addressType": { enum: ["FQDN", "IPv4", "IPv6"] },
  // The kind drops the whole reference.
  "k8s.io/api/core/v1.TypedObjectReference.namespace": { featureGate: undefined },
  // Its comment names a gate, but no code drops the field.
  "k8s.io/api/core/v1.ContainerStatus.stopSignal": { featureGate: undefined },
  // Their comments name no gate, but the kinds drop them.
  "k8s.io/api/core/v1.Lifecycle.stopSignal": { featureGate: ["ContainerStopSignals"], dropsHolder: true },
  "k8s.io/api/core/v1.TopologySpreadConstraint.matchLabelKeys": { featureGate: ["MatchLabelKeysInPodTopologySpread"] },
  "k8s.io/api/core/v1.VolumeMountStatus.volumeStatus": { featureGate: ["ImageVolumeWithDigest"] },
};

/** Accepted values of the field, or of the entries of its list or map. */
function enumOf(field: FactType): string[] | undefined {
  const values = field.enum ?? field.items?.enum ?? field.values?.enum;
  return values && [...new Set(values)];
}

function fieldRow(facts: Facts, name: string, field: FactField, goTypes: string[] | undefined): FieldRow {
  const flags = [
    field.inline && "i",
    field.ptr && "p",
    field.omitempty && "e",
    field.omitzero && "z",
    field.required && "r",
    field.unionDiscriminator && "d",
    field.listType === "atomic" && "a",
    field.listType === "set" && "s",
    field.mapType === "atomic" && "m",
    field.mapType === "granular" && "g",
    field.structType === "granular" && "g",
  ];
  const accepted = enumOf(field);
  const extras: FieldExtras = {
    ...(field.listMapKeys !== undefined && { keys: field.listMapKeys }),
    ...(field.patchStrategy !== undefined && { patch: field.patchStrategy }),
    ...(field.patchMergeKey !== undefined && { mergeKey: field.patchMergeKey }),
    ...("default" in field && { default: field.default }),
    ...(accepted !== undefined && { enum: accepted }),
    ...(field.featureGate !== undefined && { gates: field.featureGate }),
    ...(field.dropsHolder && { dropsHolder: true }),
    ...(field.dv !== undefined && { markers: field.dv }),
    ...(field.typeDv !== undefined && { typeMarkers: field.typeDv }),
    ...(field.oneOf !== undefined && { oneOf: field.oneOf }),
    ...(field.zeroOrOneOf !== undefined && { zeroOrOneOf: field.zeroOrOneOf }),
    ...(goTypes !== undefined && { go: goTypes }),
    ...(field.pbName !== undefined && { protobufName: field.pbName }),
    ...(field.pbType !== undefined && field.pbType !== protobufType(facts, field) && { protobufType: field.pbType }),
  };
  const row = [name, typeText(field), flags.filter(Boolean).join(""), field.pb ?? 0] as const;
  return Object.keys(extras).length === 0 ? row : [...row, extras];
}

/** `string`, `int32`, a definition's name; `[]` before it for a list, `{}` for a map. */
function typeText(type: FactType): string {
  if (type.ref !== undefined) return type.ref;
  if (type.items !== undefined) return `[]${typeText(type.items)}`;
  if (type.values !== undefined) return `{}${typeText(type.values)}`;
  if (type.format === "byte") return "bytes";
  if (type.type === "integer" || type.type === "number") return type.format as string;
  if (type.type === "boolean") return "bool";
  if (type.type === "string" || type.type === "any") return type.type;
  throw new Error(`no type text for ${JSON.stringify(type)}`);
}

/** The name of the type in protobuf by the general rule; a row contains only the exceptions. */
function protobufType(facts: Facts, type: FactType): string | undefined {
  if (type.ref !== undefined) return facts[type.ref]?.proto;
  if (type.items !== undefined) return `repeated ${protobufType(facts, type.items)}`;
  if (type.values !== undefined) return `map<string,${protobufType(facts, type.values)}>`;
  return typeText(type);
}

/**
 * The kinds of static manifests: which of them each plugin accepts, and how a document is decoded.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/admission/plugin/webhook/manifest/loader/loader.go,
 * k8s.io/kubernetes@v1.36.0/pkg/admission/plugin/policy/manifest/loader.
 */
import {
  type Configuration,
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
} from "../../apimachinery/configuration-file.ts";
import { configKind } from "../../apimachinery/configuration-schema.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { schemeName } from "./configuration-file.ts";
import type { ManifestPlugin, StaticKind } from "./contract.ts";

/** The API group of all static manifests. */
export const manifestGroup = "admissionregistration.k8s.io";
const acceptedVersion = `${manifestGroup}/v1`;

/** The kinds of each plugin. A binding comes after the policies that it can name. */
export const kindsOfPlugin: Readonly<Record<ManifestPlugin, readonly StaticKind[]>> = {
  MutatingAdmissionPolicy: ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"],
  MutatingAdmissionWebhook: ["MutatingWebhookConfiguration"],
  ValidatingAdmissionPolicy: ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
  ValidatingAdmissionWebhook: ["ValidatingWebhookConfiguration"],
};

/** Lists can contain lists; the limit is not upstream's. */
const listDepthMax = 16;

/** An object of a document. */
export interface DecodedManifest {
  readonly kind: StaticKind;
  readonly object: KubeObject;
}

/**
 * Decodes a document: an object, a list of the kind, or a `List` of objects and lists.
 *
 * @param kinds the accepted kinds
 * @returns the objects, without defaults
 * @throws Error with upstream's message
 */
export function decodeManifest(bytes: Buffer, kinds: readonly StaticKind[]): DecodedManifest[] {
  return objectsOf(decodeConfiguration(bytes, knownKinds, schemeName), kinds, 0);
}

function objectsOf(
  { apiVersion, kind, object }: Configuration,
  kinds: readonly StaticKind[],
  depth: number,
): DecodedManifest[] {
  const { items } = object as { readonly items?: readonly unknown[] };
  if (kind === "List") return (items ?? []).flatMap((item) => decodeItem(item, kinds, depth + 1));
  const accepted = kinds.find((one) => kind === one || kind === `${one}List`);
  if (accepted === undefined || apiVersion !== acceptedVersion)
    throw new Error(`unsupported resource type *${goPackage(apiVersion)}.${kind}`);
  const objects = kind === accepted ? [object] : ((items ?? []) as (typeof object)[]);
  return objects.map((one) => ({ kind: accepted, object: objectOf(one, accepted) }));
}

function decodeItem(item: unknown, kinds: readonly StaticKind[], depth: number): DecodedManifest[] {
  if (depth > listDepthMax) throw new Error(`lists are nested more than ${listDepthMax} levels deep`);
  const bytes = Buffer.from(item === null || item === undefined ? "" : encodeSorted(item));
  return objectsOf(decodeItemText(bytes), kinds, depth);
}

function decodeItemText(bytes: Buffer): Configuration {
  try {
    return decodeConfiguration(bytes, knownKinds, schemeName);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new Error(`failed to decode list item: ${error.message}`);
  }
}

function objectOf(object: Record<string, unknown>, kind: StaticKind): KubeObject {
  return { ...object, apiVersion: acceptedVersion, kind, metadata: object.metadata ?? {} };
}

/** The Go package of a version, as `%T` prints it. */
function goPackage(apiVersion: string): string {
  return apiVersion.slice(apiVersion.lastIndexOf("/") + 1);
}

const policyKinds = [...kindsOfPlugin.MutatingAdmissionPolicy, ...kindsOfPlugin.ValidatingAdmissionPolicy];
const allKinds = Object.values(kindsOfPlugin).flat();

/** Kinds that are decoded only to be rejected. */
const anyFields: Struct = { ...configKind("", {}), preserveUnknown: true };
const metaSchema = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** The kinds of upstream's scheme, including those that no plugin accepts. */
const knownKinds: readonly ConfigurationKind[] = [
  ...withLists(acceptedVersion, allKinds, (kind) => builtinSchema(`io.k8s.api.admissionregistration.v1.${kind}`)),
  ...withLists(`${manifestGroup}/v1beta1`, allKinds, () => anyFields),
  ...withLists(`${manifestGroup}/v1alpha1`, policyKinds, () => anyFields),
  ...["v1", "meta.k8s.io/v1", acceptedVersion].flatMap((apiVersion) => [
    { apiVersion, kind: "List", schema: builtinSchema(`${metaSchema}.List`) },
    { apiVersion, kind: "Status", schema: builtinSchema(`${metaSchema}.Status`) },
  ]),
];

function withLists(
  apiVersion: string,
  kinds: readonly StaticKind[],
  schema: (kind: string) => Struct,
): ConfigurationKind[] {
  return kinds.flatMap((one) => [one, `${one}List`]).map((kind) => ({ apiVersion, kind, schema: schema(kind) }));
}

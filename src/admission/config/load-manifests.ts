/**
 * Loads the static manifests of a plugin: decodes, defaults and validates their objects.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/manifest/loader/loader.go,
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/manifest/loader/loader.go.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import { validateObjectMeta } from "../../apimachinery/validation/metadata.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { StrategyContext } from "../../catalog/strategy-contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { ManifestPlugin, StaticKind } from "./contract.ts";
import type { ManifestDocument } from "./manifest-files.ts";
import { type DecodedManifest, decodeManifest, kindsOfPlugin, manifestGroup } from "./manifest-kinds.ts";

/** The objects of each kind of a plugin, sorted by name. */
export type LoadedManifests = ReadonlyMap<StaticKind, readonly KubeObject[]>;

const suffix = ".static.k8s.io";

/**
 * Loads the objects of all documents, or none.
 *
 * @throws Error with upstream's message
 */
export async function loadManifests(
  plugin: ManifestPlugin,
  documents: readonly ManifestDocument[],
  catalog: Catalog,
): Promise<LoadedManifests> {
  const kinds = kindsOfPlugin[plugin];
  const found = new Map<StaticKind, Map<string, Located>>(kinds.map((kind) => [kind, new Map()]));
  for (const document of documents) await loadDocument(document, kinds, found, catalog);
  const loaded = new Map([...found].map(([kind, byName]) => [kind, sortedObjects(byName)] as const));
  checkReferences(kinds, loaded);
  return loaded;
}

interface Located {
  readonly object: KubeObject;
  readonly file: string;
}

type ByName = Map<string, Located>;

async function loadDocument(
  { file, bytes }: ManifestDocument,
  kinds: readonly StaticKind[],
  found: ReadonlyMap<StaticKind, ByName>,
  catalog: Catalog,
): Promise<void> {
  try {
    const manifests = decodeManifest(bytes, kinds);
    for (const manifest of manifests) await prepare(manifest, catalog);
    for (const { kind, object } of manifests) {
      checkName(object, file, found.get(kind) as ByName);
      checkConstraints(kind, object, file);
    }
  } catch (error) {
    throw new Error(`error loading ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Sets defaults, and validates the object like one that a client creates. */
async function prepare({ kind, object }: DecodedManifest, catalog: Catalog): Promise<void> {
  const { strategy } = (catalog.findKind(manifestGroup, "v1", kind) as NonNullable<ReturnType<Catalog["findKind"]>>)
    .resource.definition;
  strategy.setDefaults(object);
  const errors = new FieldErrors();
  const validateName = (name: string, prefix: boolean): string[] => strategy.validateName(name, prefix, object);
  validateObjectMeta(object.metadata, { namespaced: false, validateName, custom: true }, errors);
  await strategy.validate(object, errors, validationContext);
  if (!errors.empty) throw new Error(`${kind} ${quoteGo(object.metadata.name ?? "")}: ${errors.text}`);
}

/** With these gates, the names of static manifests are valid. */
const noGates: FeatureGates = { enabled: () => false };

/** The rules of the kinds use only the gates. */
const validationContext: StrategyContext = {
  user: loopbackUser,
  gates: noGates,
  now: 0,
  warn: () => undefined,
  find: async () => undefined,
  findDenial: async () => undefined,
};

function checkName(object: KubeObject, file: string, seen: ByName): void {
  const { name = "" } = object.metadata;
  if (!name.endsWith(suffix))
    throw new Error(`${quoteGo(name)} in file ${quoteGo(file)} must have a name ending with ${quoteGo(suffix)}`);
  const other = seen.get(name);
  if (other !== undefined)
    throw new Error(
      `duplicate name ${quoteGo(name)} found in file ${quoteGo(file)} (previously seen in ${quoteGo(other.file)})`,
    );
  seen.set(name, { object, file });
}

/** Static manifests cannot depend on objects of the API. */
function checkConstraints(kind: StaticKind, object: KubeObject, file: string): void {
  if (kind.endsWith("WebhookConfiguration")) checkWebhooks(object, file);
  else if (kind.endsWith("Binding")) checkBinding(object);
  else if (object.spec?.paramKind)
    throw new Error(
      `${kind} ${quoteGo(object.metadata.name as string)}: spec.paramKind is not supported for static manifests`,
    );
}

function checkWebhooks({ metadata, webhooks = [] }: KubeObject, file: string): void {
  for (const { name, clientConfig } of webhooks) {
    if (clientConfig.service)
      throw new Error(
        `webhook ${quoteGo(name)} in ${quoteGo(metadata.name as string)} (file ${quoteGo(file)}): clientConfig.service is not supported for static manifests; use clientConfig.url instead`,
      );
  }
}

function checkBinding({ metadata, spec }: KubeObject): void {
  const where = `binding ${quoteGo(metadata.name as string)}`;
  if (!spec.policyName.endsWith(suffix))
    throw new Error(`${where}: spec.policyName ${quoteGo(spec.policyName)} must end with ${quoteGo(suffix)}`);
  if (spec.paramRef) throw new Error(`${where}: spec.paramRef is not supported for static manifests`);
}

function sortedObjects(byName: ByName): readonly KubeObject[] {
  return [...byName].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, { object }]) => object);
}

/** Bindings name policies of the same directory. */
function checkReferences([policyKind, bindingKind]: readonly StaticKind[], loaded: LoadedManifests): void {
  if (bindingKind === undefined) return;
  const policies = new Set(loaded.get(policyKind as StaticKind)?.map(({ metadata }) => metadata.name));
  const binding = loaded.get(bindingKind)?.find(({ spec }) => !policies.has(spec.policyName));
  if (binding === undefined) return;
  const { metadata, spec } = binding;
  throw new Error(
    `binding ${quoteGo(metadata.name as string)} references policy ${quoteGo(spec.policyName)} which does not exist in the manifest directory`,
  );
}

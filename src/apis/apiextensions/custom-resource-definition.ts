/**
 * apiextensions.k8s.io: CustomResourceDefinition.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/registry/customresourcedefinition/strategy.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/v1/defaults.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Strategy } from "../../catalog/strategy-contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { isSupportedFormat } from "../../lib/structural-schema/formats/formats.ts";
import { schemaHas } from "../../lib/structural-schema/json-schema-props.ts";
import { items, setAbsent, struct } from "../fields.ts";
import { setCondition } from "./condition-list.ts";
import { type DefinitionVersion, liftSpec, schemasOf } from "./definition.ts";
import { checkAcceptedNames } from "./names-rules.ts";
import type { RuleChecker } from "./rule-checker.ts";

/** Loads the validation for the first definition, because it is a quarter of the server's code. */
const loadRules = (): Promise<typeof import("./definition-rules.ts")> => import("./definition-rules.ts");

/**
 * @param loadRuleChecker loads the compiler of `x-kubernetes-validations`; without it they are not
 *   compiled
 */
export function customResourceDefinitionWith(loadRuleChecker: (() => Promise<RuleChecker>) | undefined): Strategy {
  return strategy({
    validateName,
    hasGeneration: true,
    setDefaults,
    prepareForCreate(object) {
      object.status = {};
      addStoredVersion(object);
    },
    prepareForUpdate: addStoredVersion,
    async validate(object, errors) {
      const { checkDefinition } = await loadRules();
      await checkDefinition(object, await loadRuleChecker?.(), errors);
    },
    async validateUpdate(next, old, errors) {
      const { checkDefinitionUpdate } = await loadRules();
      await checkDefinitionUpdate(next, old, await loadRuleChecker?.(), errors);
    },
    validateStatusUpdate: (next, _old, errors) => checkAcceptedNames(next.status ?? {}, errors),
    warnings: formatWarnings,
    holdsDeletion: ({ metadata }) => metadata.deletionTimestamp === undefined,
    markDeleted,
  });
}

/** The name is that of the resource. */
function validateName(name: string, prefix: boolean, { spec = {} }: KubeObject): string[] {
  const problems = dnsSubdomainProblems(name, prefix);
  const required = `${spec.names?.plural ?? ""}.${spec.group ?? ""}`;
  return name === required ? problems : [...problems, 'must be spec.names.plural+"."+spec.group'];
}

/** Does not compile `x-kubernetes-validations`. */
export const customResourceDefinition = customResourceDefinitionWith(undefined);

function setDefaults(object: KubeObject): void {
  const spec = struct(object, "spec");
  const names = struct(spec, "names");
  const kind: string = names.kind ?? "";
  if (kind !== "") setAbsent(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
  spec.conversion ??= { strategy: "None" };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) setAbsent(service, { port: 443 });
  if (items(object.status?.storedVersions).length === 0) addStoredVersion(object);
}

/** Adds the storage version. Clients remove old versions after they have migrated all objects. */
function addStoredVersion(object: KubeObject): void {
  const name = items(object.spec?.versions).find(({ storage }) => storage === true)?.name;
  if (name === undefined) return;
  const status = struct(object, "status");
  const stored: readonly string[] = status.storedVersions ?? [];
  if (!stored.includes(name)) status.storedVersions = [...stored, name];
}

/** Removed by the controller when no objects of the kind exist. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** Adds the finalizer, because the objects of the kind are deleted before the definition. */
function markDeleted(object: KubeObject): void {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (!finalizers.includes(cleanupFinalizer)) object.metadata.finalizers = [...finalizers, cleanupFinalizer];
  const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
  setCondition(
    object,
    { type: "Terminating", status: "True", reason: "InstanceDeletionPending", message },
    Date.parse(deletionTimestamp as string),
  );
}

/**
 * Warns about unsupported formats, which are not validated, unless the stored definition has them.
 */
function formatWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  const before = new Set(old === undefined ? [] : unrecognizedFormats(old));
  return unrecognizedFormats(object)
    .filter((format) => !before.has(format))
    .slice(0, warningsMax)
    .map((format) => `unrecognized format ${quoteGo(format)}`);
}

/** A schema of 1 MiB can have about ten thousand unsupported formats. Upstream has no limit. */
const warningsMax = 100;

function unrecognizedFormats({ spec = {} }: KubeObject): string[] {
  const found: string[] = [];
  for (const schema of schemasOf(liftSpec(spec as { versions?: DefinitionVersion[] }))) {
    schemaHas(schema, ({ format = "", type = "" }) => {
      if (format !== "" && !isSupportedFormat(format, type)) found.push(format);
      return false;
    });
  }
  return found;
}

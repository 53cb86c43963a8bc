/** apiextensions.k8s.io: CustomResourceDefinition. Source: k8s.io/apiextensions-apiserver pkg/registry/customresourcedefinition, v1/defaults.go */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Strategy } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isSupportedFormat } from "../../lib/structural-schema/formats/formats.ts";
import { schemaHas } from "../../lib/structural-schema/json-schema-props.ts";
import { items, setAbsent, struct } from "../fields.ts";
import { setCondition } from "./condition-list.ts";
import { type DefinitionVersion, liftSpec, schemasOf } from "./definition.ts";
import { checkAcceptedNames } from "./names-rules.ts";
import type { RuleChecker } from "./rule-checker.ts";

/** Rules and expressions are a quarter of the server's code: they are loaded for the first definition. */
const loadRules = (): Promise<typeof import("./definition-rules.ts")> => import("./definition-rules.ts");

/** @param loadRuleChecker of what compiles `x-kubernetes-validations`; without it they are looked at as data alone */
export function customResourceDefinitionWith(loadRuleChecker: (() => Promise<RuleChecker>) | undefined): Strategy {
  return strategy({
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

/** Whatever was stored once stays named, until someone who has rewritten all objects takes it out. */
function addStoredVersion(object: KubeObject): void {
  const name = items(object.spec?.versions).find(({ storage }) => storage === true)?.name;
  if (name === undefined) return;
  const status = struct(object, "status");
  const stored: readonly string[] = status.storedVersions ?? [];
  if (!stored.includes(name)) status.storedVersions = [...stored, name];
}

export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** Its objects go first. */
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

/** Formats that mean nothing are let pass and not looked at. Those that were stored before are not told again. */
function formatWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  const known = new Set(old === undefined ? [] : unrecognizedFormats(old));
  return unrecognizedFormats(object)
    .filter((format) => !known.has(format))
    .slice(0, warningsMax)
    .map((format) => `unrecognized format ${quoteGo(format)}`);
}

/** A schema of 1 MiB could have some ten thousand. Upstream tells all. */
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

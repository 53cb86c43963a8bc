/**
 * ResourceClaim and its template: the spec is immutable, and admin access requires a label of the
 * namespace.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/resource/resourceclaim/strategy.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/resource/resourceclaimtemplate/strategy.go
 */

import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { equalGoForms } from "../../catalog/go-equality.ts";
import { goForm } from "../../catalog/go-form.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, Strategy, StrategyContext } from "../../catalog/strategy-contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { validateTemplateMeta } from "../core/pod/claim-template.ts";
import { items, keepMetaForStatus, type Part, struct } from "../fields.ts";
import { metadataInGo } from "../go-metadata.ts";
import { checkStatusRights, claimDenials } from "./claim-rights.ts";
import { type ClaimRules, setClaimSpecDefaults, validateClaimSpec } from "./claim-spec.ts";
import { dropDeallocated, validateClaimStatus } from "./claim-status.ts";
import { deviceFeatures, type LoadSelectorChecker } from "./selector-checker.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const claimColumns: readonly Column[] = [
  nameColumn,
  text("State", "A summary of the current state (allocated, pending, reserved, etc.).", claimState),
  ageColumn,
];

/** Versions before v1 have the fields of `exactly` in the request itself. */
const normalizations = [
  [
    // Bounded: the path of a field, in which no part can begin as the part before it ends.
    /^spec\.devices\.requests\[(\d+)\]\.(deviceClassName|selectors|allocationMode|count|adminAccess|tolerations)/,
    "spec.devices.requests[$1].exactly.$2",
  ],
] as const;

const metaRules = { namespaced: true, validateName: dnsSubdomainProblems };

/** @param load loads the checker of selectors; without it they are not checked */
export function resourceClaimWith(load: LoadSelectorChecker | undefined): Strategy {
  return strategy({
    columns: claimColumns,
    repeatsMetaRules: false,
    declarative: { subresources: ["status"], normalizations },
    setDefaults: (object) => setClaimSpecDefaults(struct(object, "spec")),
    async validate(object, errors, context) {
      const rules = await claimRules(load, context);
      await checkRequests(object, object.spec, errors, context);
      validateClaimSpec(object.spec ?? {}, rules, "spec", errors);
    },
    validateUpdate(next, old, errors) {
      validateMetaAgain(next.metadata, metaRules, errors);
      validateMetaChangesAgain(next.metadata, old.metadata, errors);
      checkUnchanged("ResourceClaimSpec", next, old, errors);
    },
    dropsDisabledStatus: true,
    prepareForStatusUpdate(next, old) {
      keepMetaForStatus(next, old);
      dropDeallocated(next, old);
    },
    async validateStatusUpdate(next, old, errors, context) {
      const index = adminAccessIndex(next);
      if (index >= 0 && adminAccessIndex(old) < 0)
        await checkLabel(next, `status.allocation.devices.results[${index}].adminAccess`, errors, context);
      if (context.gates.enabled("DRAResourceClaimGranularStatusAuthorization")) {
        const write = { user: context.user, verb: context.isPatch ? "patch" : "update", next, old };
        await checkStatusRights(write, claimDenials(context.findDenial), errors);
      }
      validateMetaChangesAgain(next.metadata, old.metadata, errors);
      validateClaimStatus(next, old, errors);
    },
  });
}

/** @param load loads the checker of selectors; without it they are not checked */
export function resourceClaimTemplateWith(load: LoadSelectorChecker | undefined): Strategy {
  const validate = async ({ spec = {} }: KubeObject, errors: FieldErrors, context: StrategyContext): Promise<void> => {
    const rules = await claimRules(load, context);
    validateTemplateMeta(spec.metadata ?? {}, "spec.metadata", errors);
    validateClaimSpec(spec.spec ?? {}, rules, "spec.spec", errors);
  };
  return strategy({
    columns: [nameColumn, ageColumn],
    repeatsMetaRules: false,
    setDefaults: (object) => setClaimSpecDefaults(struct(struct(object, "spec"), "spec")),
    async validate(object, errors, context) {
      await checkRequests(object, object.spec?.spec, errors, context);
      await validate(object, errors, context);
    },
    async validateUpdate(next, old, errors, context) {
      validateMetaAgain(next.metadata, metaRules, errors);
      await validate(next, errors, context);
      validateMetaChangesAgain(next.metadata, old.metadata, errors);
      checkUnchanged("ResourceClaimTemplateSpec", next, old, errors);
    },
  });
}

async function claimRules(load: LoadSelectorChecker | undefined, context: StrategyContext): Promise<ClaimRules> {
  const features = deviceFeatures(context);
  return { checker: await load?.(), isStored: false, ...features, hasDistinct: features.hasMultipleAllocations };
}

function checkUnchanged(type: string, next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const shown = inGo(type, next.spec);
  if (!equalGoForms(shown, inGo(type, old.spec)))
    errors.covered("immutable").invalid("spec", shown, "field is immutable");
}

function inGo(type: string, spec: Part = {}): Part {
  const shown = goForm(type, spec);
  return type === "ResourceClaimTemplateSpec" ? { ...metadataInGo(spec.metadata), Spec: shown.Spec } : shown;
}

/** Required on namespaces whose claims have `adminAccess`. */
const adminLabel = "resource.kubernetes.io/admin-access";

/** As upstream, reports the path of a claim for templates too. */
async function checkRequests(
  object: KubeObject,
  spec: Part | undefined,
  errors: FieldErrors,
  context: StrategyContext,
): Promise<void> {
  const index = items(spec?.devices?.requests).findIndex(({ exactly }) => exactly?.adminAccess === true);
  if (index >= 0) await checkLabel(object, `spec.devices.requests[${index}].adminAccess`, errors, context);
}

function adminAccessIndex({ status }: KubeObject): number {
  return items(status?.allocation?.devices?.results).findIndex(({ adminAccess }) => adminAccess === true);
}

async function checkLabel(
  { metadata }: KubeObject,
  path: string,
  errors: FieldErrors,
  { find }: StrategyContext,
): Promise<void> {
  const namespace = await find("", "namespaces", "", metadata.namespace ?? "");
  if (namespace === undefined)
    errors.internal(
      path,
      `could not retrieve namespace to verify admin access: namespaces ${quoteGo(metadata.namespace ?? "")} not found`,
    );
  else if (namespace.metadata.labels?.[adminLabel] !== "true")
    errors.forbidden(
      path,
      `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`,
    );
}

function claimState({ metadata, status }: KubeObject): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ["deleted"] : [];
  if (status?.allocation === undefined) return isDeleted ? "deleted" : "pending";
  states.push("allocated");
  if (items(status.reservedFor).length > 0) states.push("reserved");
  return states.join(",");
}

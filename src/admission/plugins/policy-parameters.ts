/**
 * Who writes a policy that takes parameters, or a binding that names some, must be able to read them. Upstream asks in the kinds' strategies, so that
 * this is no plugin that could be switched off, and a field is what is forbidden. Source: kubernetes' registry/admissionregistration.
 */
import { invalid } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { Authorizer, Decision } from "../../authorization/contract.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../contract.ts";

const group = "admissionregistration.k8s.io";

/** What the parameters are, as far as it is known; otherwise the right to read anything is needed. */
interface ParamResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

interface Sentences {
  readonly refused: (user: string, verb: string) => string;
  readonly failed: (error: string) => string;
}

/** Of mutating policies' bindings user and verb stand in each other's place. */
const sentences: Readonly<Record<string, Sentences>> = {
  validatingadmissionpolicybindings: {
    refused: (user, verb) => `user ${user} does not have "${verb}" permission on the object referenced by paramRef`,
    failed: (error) => `failed to authorize request: ${error}`,
  },
  mutatingadmissionpolicybindings: {
    refused: (user, verb) => `user ${verb} does not have "${user}" permission on the object referenced by paramRef`,
    failed: (error) => error,
  },
};

export function policyParameters(catalog: Catalog, authorize: Authorizer): AdmissionPlugin {
  return {
    name: "PolicyParameters",
    authorize(attributes) {
      const { definition } = attributes.target.resource;
      const { operation, object, subresource, user } = attributes;
      if (
        definition.group !== group ||
        object === undefined ||
        subresource !== "" ||
        (operation !== "CREATE" && operation !== "UPDATE")
      )
        return;
      if (user.groups.includes("system:masters")) return;
      const said = sentences[definition.resource];
      if (said !== undefined && object.spec?.paramRef) return checkBinding(catalog, authorize, attributes, said);
      const { paramKind } = attributes.oldObject?.spec ?? {};
      const isNew = object.spec?.paramKind && !(paramKind && deepEqual(object.spec.paramKind, paramKind));
      if (isNew) return checkPolicy(catalog, authorize, attributes);
    },
  };
}

async function checkPolicy(catalog: Catalog, authorize: Authorizer, attributes: AdmissionAttributes): Promise<void> {
  const { user, object } = attributes;
  const { paramKind } = object?.spec ?? {};
  const wanted = resourceOf(catalog, paramKind) ?? versionOf(paramKind);
  const { decision, error } = await ask(authorize, user, "get", { ...wanted, namespace: "*", name: "*" });
  if (error !== undefined) return refuse(attributes, "spec.paramKind", error);
  if (decision === "allow") return;
  const { kind, apiVersion } = paramKind;
  const which = `(kind=${kind}, apiVersion=${apiVersion})`;
  refuse(
    attributes,
    "spec.paramKind",
    `user ${inGo(user)} must have "get" permission on all objects of the referenced paramKind ${which}`,
  );
}

async function checkBinding(
  catalog: Catalog,
  authorize: Authorizer,
  attributes: AdmissionAttributes,
  said: Sentences,
): Promise<void> {
  const { user, object } = attributes;
  const { paramRef, policyName = "" } = object?.spec ?? {};
  const { name = "", namespace = "" } = paramRef;
  const policy = await findPolicy(catalog, attributes.target.resource.definition.resource, policyName);
  const kind = policy?.spec?.paramKind;
  const resource = kind && resourceOf(catalog, kind);
  const verb = name === "" ? "list" : "get";
  const { decision, error } = await ask(authorize, user, verb, { ...(resource ?? versionOf(kind)), namespace, name });
  if (error !== undefined) return refuse(attributes, "spec.paramRef", said.failed(error));
  if (decision === "allow") return;
  const rights = `to determine minimum required permissions and user ${inGo(user)} does not have "${verb}" permission for all groups, versions and resources`;
  if (policy === undefined) refuse(attributes, "spec.paramRef", `unable to get policy ${policyName} ${rights}`);
  if (kind && resource === undefined)
    refuse(attributes, "spec.paramRef", `unable to resolve paramKind &{${kind.apiVersion} ${kind.kind}} ${rights}`);
  refuse(attributes, "spec.paramRef", said.refused(inGo(user), verb));
}

async function findPolicy(catalog: Catalog, binding: string, name: string): Promise<KubeObject | undefined> {
  const store = catalog.findResource(group, binding.replace(/policybindings$/, "policies"))?.store;
  if (store === undefined) return undefined;
  await store.cache.ready();
  const entry = store.cache.latest().get(store.keyOf("", name));
  return entry && store.decode(entry);
}

function versionOf(paramKind: KubeObject["spec"] | undefined): ParamResource {
  if (!paramKind) return { group: "*", version: "*", resource: "*" };
  const parts = String(paramKind.apiVersion ?? "").split("/");
  return { version: parts.pop() ?? "", group: parts[0] ?? "", resource: "*" };
}

function resourceOf(catalog: Catalog, paramKind: KubeObject["spec"]): ParamResource | undefined {
  const { group, version } = versionOf(paramKind);
  const found = catalog.findKind(group, version, paramKind.kind ?? "");
  return found && { group, version, resource: found.resource.definition.resource };
}

function ask(
  authorize: Authorizer,
  user: UserInfo,
  verb: string,
  object: ParamResource & { readonly namespace: string; readonly name: string },
): Decision | Promise<Decision> {
  return authorize({
    user,
    verb,
    isResourceRequest: true,
    path: "",
    subresource: "",
    fieldSelector: "",
    labelSelector: "",
    ...object,
  });
}

/** As Go prints the pointer. */
function inGo({ name, uid, groups, extra }: UserInfo): string {
  const entries = [...extra]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${key}:[${values.join(" ")}]`);
  return `&{${name} ${uid} [${groups.join(" ")}] map[${entries.join(" ")}]}`;
}

/** @throws ApiError 422 */
function refuse({ target, object, name }: AdmissionAttributes, field: string, why: string): never {
  const errors = new FieldErrors();
  errors.forbidden(field, why);
  throw invalid(group, target.resource.definition.kind, object?.metadata.name ?? name, errors.causes);
}

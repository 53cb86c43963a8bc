/**
 * Writing a policy with a paramKind, or a binding with a paramRef, requires the permission to read
 * the parameters. Upstream checks this in the strategies of the kinds: no flag disables it, and the
 * error names a field.
 * Source:
 * k8s.io/kubernetes@v1.36.0/pkg/registry/admissionregistration/validatingadmissionpolicy/authz.go.
 */
import { invalid } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { Authorizer, Decision } from "../../authorization/contract.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";

const group = "admissionregistration.k8s.io";

/**
 * The resource of the parameters. `*` is an unknown part: the user then needs the
 * permission for all resources.
 */
interface ParamResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

interface Messages {
  readonly forbidden: (user: string, verb: string) => string;
  readonly failed: (error: string) => string;
}

/** Upstream's message for bindings of mutating policies swaps user and verb. */
const bindingMessages: Readonly<Record<string, Messages>> = {
  validatingadmissionpolicybindings: {
    forbidden: (user, verb) => `user ${user} does not have "${verb}" permission on the object referenced by paramRef`,
    failed: (error) => `failed to authorize request: ${error}`,
  },
  mutatingadmissionpolicybindings: {
    forbidden: (user, verb) => `user ${verb} does not have "${user}" permission on the object referenced by paramRef`,
    failed: (error) => error,
  },
};

/** @returns a plugin that always runs */
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
      const messages = bindingMessages[definition.resource];
      if (messages !== undefined && object.spec?.paramRef)
        return checkBinding(catalog, authorize, attributes, messages);
      const { paramKind } = attributes.oldObject?.spec ?? {};
      const isNew = object.spec?.paramKind && !(paramKind && deepEqual(object.spec.paramKind, paramKind));
      if (isNew) return checkPolicy(catalog, authorize, attributes);
    },
  };
}

async function checkPolicy(catalog: Catalog, authorize: Authorizer, attributes: AdmissionAttributes): Promise<void> {
  const { user, object } = attributes;
  const { paramKind } = object?.spec ?? {};
  const params = resourceOf(catalog, paramKind) ?? versionOf(paramKind);
  const { decision, error } = await checkAccess(authorize, user, "get", { ...params, namespace: "*", name: "*" });
  if (error !== undefined) return rejectField(attributes, "spec.paramKind", error);
  if (decision === "allow") return;
  const { kind, apiVersion } = paramKind;
  const which = `(kind=${kind}, apiVersion=${apiVersion})`;
  rejectField(
    attributes,
    "spec.paramKind",
    `user ${formatUser(user)} must have "get" permission on all objects of the referenced paramKind ${which}`,
  );
}

async function checkBinding(
  catalog: Catalog,
  authorize: Authorizer,
  attributes: AdmissionAttributes,
  messages: Messages,
): Promise<void> {
  const { user, object } = attributes;
  const { paramRef, policyName = "" } = object?.spec ?? {};
  const { name = "", namespace = "" } = paramRef;
  const policy = await findPolicy(catalog, attributes.target.resource.definition.resource, policyName);
  const kind = policy?.spec?.paramKind;
  const resource = kind && resourceOf(catalog, kind);
  const verb = name === "" ? "list" : "get";
  const { decision, error } = await checkAccess(authorize, user, verb, {
    ...(resource ?? versionOf(kind)),
    namespace,
    name,
  });
  if (error !== undefined) return rejectField(attributes, "spec.paramRef", messages.failed(error));
  if (decision === "allow") return;
  const rights = `to determine minimum required permissions and user ${formatUser(user)} does not have "${verb}" permission for all groups, versions and resources`;
  if (policy === undefined) rejectField(attributes, "spec.paramRef", `unable to get policy ${policyName} ${rights}`);
  if (kind && resource === undefined)
    rejectField(
      attributes,
      "spec.paramRef",
      `unable to resolve paramKind &{${kind.apiVersion} ${kind.kind}} ${rights}`,
    );
  rejectField(attributes, "spec.paramRef", messages.forbidden(formatUser(user), verb));
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

async function checkAccess(
  authorize: Authorizer,
  user: UserInfo,
  verb: string,
  object: ParamResource & { readonly namespace: string; readonly name: string },
): Promise<Decision> {
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

/** Formats the user as Go formats a pointer to it with `%v`. */
function formatUser({ name, uid, groups, extra }: UserInfo): string {
  const entries = [...extra]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${key}:[${values.join(" ")}]`);
  return `&{${name} ${uid} [${groups.join(" ")}] map[${entries.join(" ")}]}`;
}

/** @throws ApiError 422 */
function rejectField({ target, object, name }: AdmissionAttributes, field: string, why: string): never {
  const errors = new FieldErrors();
  errors.forbidden(field, why);
  throw invalid(group, target.resource.definition.kind, object?.metadata.name ?? name, errors.causes);
}

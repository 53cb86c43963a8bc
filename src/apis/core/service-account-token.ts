/**
 * `serviceaccounts/token`: answers a TokenRequest with a token.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/serviceaccount/storage/token.go`.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import { badRequest, conflict, invalid, notFound } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { TokenGrant } from "../../authentication/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { pathSegmentNameProblems } from "../../lib/names/names.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { currentObject } from "../../registry/current-entry.ts";
import type { Part } from "../fields.ts";

/** How service account tokens are issued. */
interface TokenRequestOptions {
  /** Audiences of tokens whose request has none. */
  readonly apiAudiences: readonly string[];
  /** In seconds; 0 means no limit. */
  readonly maxExpirationSeconds: number;
  readonly extendExpiration: boolean;
  /** The expiration, in seconds, of pod tokens that are extended. */
  readonly watchedExpirationSeconds: number;
  readonly extendedExpirationSeconds: number;
  /** @returns the signed token */
  issue(grant: TokenGrant): Promise<string>;
}

const group = "authentication.k8s.io";
const expirationDefault = 3600n;
const expirationMin = 600;

/** The steps of a TokenRequest, in this order. */
interface TokenRequestAction {
  /** Sets the defaults of the kind. */
  setDefaults(sent: KubeObject): void;
  /**
   * Sets what depends on the account and the server, and validates the request.
   *
   * @throws ApiError 404, 409, 422
   */
  prepare(registry: RegistryContext, request: WriteRequest, sent: KubeObject): Promise<void>;
  /** @returns the request with the token. @throws ApiError 400, 404, 409 */
  issue(registry: RegistryContext, request: WriteRequest, sent: KubeObject): Promise<KubeObject>;
}

/** @returns the handler of `serviceaccounts/token` */
export function tokenRequests(options: TokenRequestOptions): TokenRequestAction {
  return {
    setDefaults(sent) {
      sent.spec ??= {};
      sent.spec.expirationSeconds ??= Number(expirationDefault);
    },
    async prepare(registry, request, sent) {
      const { namespace, name } = request;
      checkMatchesPath(sent, namespace, name);
      const { metadata } = sent;
      const { uid } = await get(registry, "serviceaccounts", namespace, name);
      checkUid(registry, request, metadata.uid ?? "", uid);
      Object.assign(metadata, { name, namespace, uid, creationTimestamp: formatTime(registry.clock.now()) });
      if ((sent.spec.audiences ?? []).length === 0) sent.spec.audiences = [...options.apiAudiences];
      checkExpiration(sent.spec.expirationSeconds);
    },
    issue: (registry, request, sent) => issue(options, registry, request, sent),
  };
}

/** The metadata may only repeat the name and the namespace of the request path. */
function checkMatchesPath({ metadata }: KubeObject, namespace: string, name: string): void {
  const errors = new FieldErrors();
  const sentName = metadata.name ?? "";
  if (sentName !== "" && sentName !== name)
    errors.invalid("metadata.name", sentName, "must match the service account name if specified");
  else if ((metadata.namespace ?? namespace) !== namespace)
    errors.invalid("metadata.namespace", metadata.namespace, "must match the service account namespace if specified");
  if (!errors.empty) throw invalid(group, "TokenRequest", name, errors.causes);
}

/** While the feature gate is disabled, another UID causes a warning, not an error. */
function checkUid(
  { gates }: RegistryContext,
  { name, warnings, audit }: WriteRequest,
  requestedUid: string,
  uid: string,
): void {
  if (requestedUid === "" || requestedUid === uid) return;
  const why = `the UID in the token request (${requestedUid}) does not match the UID of the service account (${uid})`;
  const gate = "TokenRequestServiceAccountUIDValidation";
  if (gates.enabled(gate)) throw conflict({ group, resource: "TokenRequest" }, name, why);
  audit?.annotate("authentication.k8s.io/token-request-uid-mismatch", why);
  warnings.push(`${why} but ${gate} is not enabled. In the future, this will return a conflict error`);
}

function checkExpiration(seconds: number | bigint): void {
  const errors = new FieldErrors();
  if (seconds < expirationMin)
    errors.invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes");
  if (seconds > 2 ** 32)
    errors.invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds");
  if (!errors.empty) throw invalid(group, "TokenRequest", "", errors.causes);
}

async function issue(
  options: TokenRequestOptions,
  registry: RegistryContext,
  request: WriteRequest,
  sent: KubeObject,
): Promise<KubeObject> {
  const { namespace, name } = request;
  const { spec } = sent;
  const now = registry.clock.now();
  const account = { name, uid: sent.metadata.uid as string };
  const bound =
    spec.boundObjectRef === undefined || spec.boundObjectRef === null
      ? {}
      : await bindTo(registry, request, spec.boundObjectRef);
  const { maxExpirationSeconds: max } = options;
  if (max > 0 && spec.expirationSeconds > max) {
    request.warnings.push(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${max} seconds`);
    spec.expirationSeconds = max;
  }
  const token = await options.issue({
    namespace,
    account,
    audiences: spec.audiences,
    now,
    ...expirationOf(options, spec, bound),
    ...bound,
  });
  request.audit?.annotate("authentication.kubernetes.io/issued-credential-id", credentialIdOf(token));
  sent.status = { token, expirationTimestamp: formatTime(now + spec.expirationSeconds * 1000) };
  return sent;
}

/** @param token just issued, so it is well-formed */
function credentialIdOf(token: string): string {
  const { jti } = JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString()) as { jti: string };
  return `JTI=${jti}`;
}

/** Tokens that the ServiceAccount plugin mounts into pods are valid longer than requested. */
function expirationOf(
  options: TokenRequestOptions,
  spec: Part,
  { pod }: Bound,
): Pick<TokenGrant, "expirationSeconds" | "warnAfterSeconds"> {
  const { expirationSeconds } = spec;
  const isForApiServer = (spec.audiences as string[]).every((audience) => options.apiAudiences.includes(audience));
  const extended =
    options.extendExpiration &&
    pod !== undefined &&
    expirationSeconds === options.watchedExpirationSeconds &&
    isForApiServer;
  return extended
    ? { expirationSeconds: options.extendedExpirationSeconds, warnAfterSeconds: expirationSeconds }
    : { expirationSeconds };
}

type Bound = Pick<TokenGrant, "pod" | "node" | "secret">;

async function bindTo(registry: RegistryContext, { namespace, name }: WriteRequest, ref: Part): Promise<Bound> {
  const { apiVersion = "", kind = "", name: boundName = "", uid: expectedUid = "" } = ref;
  const [version, refGroup = ""] = apiVersion.split("/").reverse();
  const resource = refGroup === "" ? { Pod: "pods", Node: "nodes", Secret: "secrets" }[kind as string] : undefined;
  if (resource === undefined)
    throw badRequest(`cannot bind token to object of type ${refGroup}/${version}, Kind=${kind}`);
  const object = await get(registry, resource, resource === "nodes" ? "" : namespace, boundName);
  if (resource === "pods" && (object.spec.serviceAccountName ?? "") !== name)
    throw badRequest(
      `cannot bind token for serviceaccount ${quoteGo(name)} to pod running with different serviceaccount name.`,
    );
  if (expectedUid !== "" && expectedUid !== object.uid) {
    const why = `the UID in the bound object reference (${expectedUid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", resource: kind }, boundName, why);
  }
  const self = { name: boundName, uid: object.uid };
  if (resource === "secrets") return { secret: self };
  if (resource === "nodes") return { node: self };
  const nodeName = object.spec.nodeName ?? "";
  if (nodeName === "") return { pod: self };
  const node = await currentObject(registry.catalog, { group: "", resource: "nodes" }, "", nodeName);
  return { pod: self, node: { name: nodeName, ...(node?.metadata.uid !== undefined && { uid: node.metadata.uid }) } };
}

/** @throws ApiError 400 for a name that no object can have; 404 */
async function get(
  { catalog }: RegistryContext,
  resource: string,
  namespace: string,
  name: string,
): Promise<{ uid: string; spec: Part }> {
  if (name === "") throw badRequest("Name parameter required.");
  const problems = pathSegmentNameProblems(name);
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${quoteGo(name)}: ${problems.join(";")}`);
  const object = await currentObject(catalog, { group: "", resource }, namespace, name);
  if (object === undefined) throw notFound({ group: "", resource }, name);
  return { uid: object.metadata.uid ?? "", spec: object.spec ?? {} };
}

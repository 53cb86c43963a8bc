/** Subresources that are actions: a POST runs the action, a connection is rejected. */

import { forbidden, methodNotAllowed, plainError } from "../../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import { attributesOf } from "../../authorization/attributes-of.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { Connect } from "../../forwarding/contract.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { decodeBody, expectedKind, expectedSubresourceKind } from "../../registry/decode-body.ts";
import { trackAnswer } from "../../registry/managed-fields/track-answer.ts";
import { admissionAttributes, checkNamespace, wipeSystemFields } from "../../registry/prepare.ts";
import type { Endpoint, RequestContext } from "../contract.ts";
import { sendStatus } from "../errors.ts";
import { connectOptions } from "./connect-options.ts";
import { bodyBytesMax, checkContentType, decodeOptions, readWriteOptions, writeRequest } from "./write-request.ts";

/**
 * Runs the action of a body.
 * @param admit runs the validating admission plugins; the action calls it after its checks of the
 *   body
 * @throws ApiError
 */
type Action = (
  registry: RegistryContext,
  request: WriteRequest,
  body: KubeObject,
  admit: () => Promise<void>,
) => Promise<void>;

/** The subresources of a server. */
export interface Subresources {
  /** By `group/resource/subresource`, or `group/resource` for resources that are only actions. */
  readonly createActions: Readonly<Record<string, Action>>;
  /** By `resource/subresource` of the core group. */
  readonly connections: Readonly<Record<string, Connect>>;
}

/**
 * @returns endpoints by `group/resource/subresource`, with an empty last part for a resource itself
 */
export function subresourceEndpoints(
  { createActions, connections }: Subresources,
  authorize: Authorizer,
): Record<string, Endpoint> {
  const actions = Object.entries(createActions).map(([key, action]): [string, Endpoint] => [
    key.split("/").length === 3 ? key : `${key}/`,
    (context, registry) => act(context, registry, action),
  ]);
  const connects = Object.entries(connections).map(([key, connect]): [string, Endpoint] => [
    `/${key}`,
    async (context, registry) => {
      const connection = await admitConnection(context, registry);
      if (createdConnections.has(key) && registry.gates.enabled("AuthorizePodWebsocketUpgradeCreatePermission")) {
        await checkConnectionRight(context, authorize);
      }
      await connect(context, registry, connection);
    },
  ]);
  return Object.fromEntries([...actions, ...connects]);
}

/** @throws ApiError 400, 403 */
async function admitConnection(context: RequestContext, registry: RegistryContext): Promise<KubeObject | undefined> {
  const object = connectOptions(context);
  if (object === undefined) return undefined;
  const request = writeRequest(context, { dryRun: false, fieldManager: "" });
  const attributes = admissionAttributes(request, { operation: "CONNECT", object });
  await registry.admission.mutate(attributes);
  await registry.admission.validate(attributes);
  return attributes.object ?? undefined;
}

/** Connections that clients request by GET over a WebSocket, and by POST over other protocols. */
const createdConnections: ReadonlySet<string> = new Set(["pods/attach", "pods/exec", "pods/portforward"]);

/**
 * Requires permission for create, which the verb of a GET does not imply. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/rest/authorize.go.
 * @throws ApiError 403, 500
 */
async function checkConnectionRight(context: RequestContext, authorize: Authorizer): Promise<void> {
  const attributes = attributesOf(context);
  if (attributes.verb === "create") return;
  const { decision, reason, error } = await authorize({ ...attributes, verb: "create" });
  if (error !== undefined) throw plainError(error);
  if (decision !== "allow")
    throw forbidden({ group: attributes.group, resource: attributes.resource }, attributes.name, reason);
}

async function act(context: RequestContext, registry: RegistryContext, action: Action): Promise<void> {
  const { info, exchange } = context;
  if (info.verb !== "create") throw methodNotAllowed();
  checkContentType(context);
  const bytes = await exchange.body(bodyBytesMax);
  const options = readWriteOptions("CreateOptions", info.query);
  const target = context.resolved as Resolved;
  const expected = kindOf(target, info.subresource);
  const body = decodeBody(bytes, expected, decodeOptions(context, registry, options));
  body.kind = expected.kind;
  body.apiVersion = formatGroupVersion(expected.group, expected.version);
  if (info.subresource !== "binding") wipeSystemFields(body.metadata); // The uid of a binding is that of its pod.
  const request = { ...writeRequest(context, options), name: info.name };
  checkNamespace(body, info.namespace);
  trackAnswer(registry, request, body, { apiVersion: body.apiVersion, schema: expected.schema });
  const attributes = admissionAttributes(request, { operation: "CREATE", object: body });
  await registry.admission.mutate(attributes);
  await action(registry, request, body, () => registry.admission.validate(attributes));
  sendStatus(context, 201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

function kindOf(target: Resolved, name: string): ReturnType<typeof expectedKind> {
  if (name === "") return expectedKind(target);
  const subresource = target.version.subresources.find((one) => one.name === name);
  const kind = subresource && expectedSubresourceKind(target, subresource);
  if (kind === undefined) throw methodNotAllowed();
  return kind.kind === "Eviction" ? { ...kind, alsoVersion: "v1beta1" } : kind; // Accepted in bodies, but not served.
}

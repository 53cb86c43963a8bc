/** Tells callers who they are. Source: access-control §4.2. */
import { formatTime } from "../../api/clock.ts";
import { methodNotAllowed } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import type { UserInfo } from "../../api/user.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { createAttributes } from "../../registry/create.ts";
import { decodeBody, expectedKind } from "../../registry/decode-body.ts";
import { readWriteOptions } from "../../registry/options.ts";
import { checkNamespace } from "../../registry/preconditions.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { RequestContext } from "../contract.ts";
import { sendObject } from "../representation/object.ts";
import { bodyBytesMax, checkContentType, decodeOptions, writeRequest } from "./write-request.ts";

/**
 * POST of a SelfSubjectReview. Nothing of what is sent comes back: the answer is the caller as every stage of authentication left it.
 * @throws ApiError 400, 403 (admission), 405, 413, 415
 */
export async function createSelfSubjectReview(context: RequestContext, registry: RegistryContext): Promise<void> {
  const { info, exchange, user } = context;
  if (info.verb !== "create" || info.parts.length > 1) throw methodNotAllowed();
  checkContentType(context);
  const bytes = await exchange.body(bodyBytesMax);
  const options = readWriteOptions("CreateOptions", info.query);
  const sent = decodeBody(bytes, expectedKind(context.resolved as Resolved), decodeOptions(context, registry, options));
  checkNamespace(sent, "");
  const attributes = createAttributes(writeRequest(context, options), sent);
  await registry.admission.mutate(attributes);
  await registry.admission.validate(attributes);
  sendObject(context, { metadata: { creationTimestamp: formatTime(registry.clock.now()) }, status: { userInfo: userInfoOf(user) } }, 201);
}

function userInfoOf({ name, uid, groups, extra }: UserInfo): KubeObject["status"] {
  return { username: name, uid, groups: [...groups], extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) };
}

/** POST of a virtual resource: nothing is stored, and the response is the answer. */
import { methodNotAllowed } from "../../apimachinery/errors.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { Review } from "../../registry/contract.ts";
import { decodeBody, expectedKind } from "../../registry/decode-body.ts";
import { trackManagedFields } from "../../registry/managed-fields/track.ts";
import { admissionAttributes, checkNamespace, wipeSystemFields } from "../../registry/prepare.ts";
import type { Endpoint } from "../contract.ts";
import { sendObject } from "../representation/object.ts";
import { bodyBytesMax, checkContentType, decodeOptions, readWriteOptions, writeRequest } from "./write-request.ts";

/**
 * Creates the endpoint of a review, which throws ApiError 400, 403 (admission), 404, 405, 413, 415,
 * 422.
 */
export function reviewEndpoint(review: Review): Endpoint {
  return async (context, registry) => {
    const { info, exchange, user } = context;
    if (info.verb !== "create") throw methodNotAllowed();
    checkContentType(context);
    const bytes = await exchange.body(bodyBytesMax);
    const options = readWriteOptions("CreateOptions", info.query);
    const request = writeRequest(context, options);
    const sent = decodeBody(
      bytes,
      expectedKind(context.resolved as Resolved),
      decodeOptions(context, registry, options),
    );
    wipeSystemFields(sent.metadata);
    checkNamespace(sent, request.namespace);
    trackManagedFields(registry, request, sent, undefined);
    const attributes = admissionAttributes(request, { operation: "CREATE", object: sent });
    await registry.admission.mutate(attributes);
    review.check(sent, request.namespace);
    await registry.admission.validate(attributes);
    sendObject(context, await review.answer(sent, user), 201);
  };
}

/**
 * The verbs of the registry as controllers call them: each write is audited like the request that a
 * controller of kube-controller-manager sends.
 */
import { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { randomUuid } from "../apimachinery/random.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resolved } from "../catalog/contract.ts";
import { encodeSorted } from "../lib/json/encode-any.ts";
import { cloneJson } from "../lib/json/values.ts";
import { encodeValue } from "../lib/schema/encode.ts";
import { type ApplyRequest, apply as applyBody } from "../registry/apply.ts";
import type { Deleted, RegistryContext, WriteRequest, Written } from "../registry/contract.ts";
import { type CreateRequest, create as createObject } from "../registry/create.ts";
import { type DeleteRequest, deleteOne as deleteObject } from "../registry/delete.ts";
import { deleteMany as deleteObjects } from "../registry/delete-collection.ts";
import { auditedOptions, deleteOptionFields } from "../registry/delete-options.ts";
import { atVersion } from "../registry/patch.ts";
import { storedResource } from "../registry/resource-names.ts";
import { type UpdateRequest, update as updateObject } from "../registry/update.ts";
import type { OwnWrite, RequestAudit } from "../request/audit.ts";

/** As {@link createObject}. */
export function create(registry: RegistryContext, request: CreateRequest): Promise<Written> {
  const run = (audit?: RequestAudit): Promise<Written> =>
    createObject(registry, {
      ...request,
      audit,
      decode() {
        const object = request.decode();
        audit?.requestObject(object, () => jsonOf(object, request.target));
        return object;
      },
    });
  return audited(registry, request, { verb: "create", run, answer: answerWritten });
}

/** As {@link updateObject}. */
export function update(registry: RegistryContext, request: UpdateRequest): Promise<Written> {
  const run = (audit?: RequestAudit): Promise<Written> =>
    updateObject(registry, {
      ...request,
      audit,
      async next(current, old, pause) {
        const object = await request.next(current, old, pause);
        audit?.requestObject(undefined, () => jsonOf(object, request.target));
        return object;
      },
    });
  return audited(registry, request, { verb: "update", run, answer: answerWritten });
}

/** As {@link applyBody}. */
export function apply(registry: RegistryContext, request: ApplyRequest): Promise<Written> {
  const run = (audit?: RequestAudit): Promise<Written> => {
    audit?.requestObject(undefined, () => request.body.toString());
    return applyBody(registry, { ...request, audit });
  };
  const query = `?fieldManager=${encodeURIComponent(request.fieldManager)}${request.force ? "&force=true" : ""}`;
  return audited(registry, request, { verb: "patch", query, run, answer: answerWritten });
}

/** As {@link deleteObject}. */
export function deleteOne(registry: RegistryContext, request: DeleteRequest): Promise<Deleted> {
  const run = (audit?: RequestAudit): Promise<Deleted> => {
    audit?.requestObject(undefined, () => auditedOptions(deleteOptionFields(request.options)));
    return deleteObject(registry, { ...request, audit });
  };
  return audited(registry, request, { verb: "delete", run, answer: answerDeleted });
}

type DeleteCollection = typeof deleteObjects;

/** As {@link deleteObjects}. */
export function deleteMany(
  registry: RegistryContext,
  request: Parameters<DeleteCollection>[1],
): ReturnType<DeleteCollection> {
  const run = (audit?: RequestAudit): ReturnType<DeleteCollection> => {
    audit?.requestObject(undefined, () => auditedOptions(deleteOptionFields(request.options)));
    return deleteObjects(registry, { ...request, audit });
  };
  const answer = (audit: RequestAudit): number => {
    audit.responseObject(() => undefined); // The list of the deleted objects is not kept.
    return 200;
  };
  return audited(registry, request, { verb: "deletecollection", run, answer });
}

interface Call<Result> {
  readonly verb: string;
  readonly query?: string;
  run(audit?: RequestAudit): Promise<Result>;
  /** Records the response. @returns its status code */
  answer(audit: RequestAudit, result: Result, request: WriteRequest): number;
}

async function audited<Result>(
  registry: RegistryContext,
  request: WriteRequest,
  { verb, query = "", run, answer }: Call<Result>,
): Promise<Result> {
  if (registry.recordOwn === undefined) return run();
  const own = await registry.recordOwn(ownWrite(registry, request, verb, query));
  if (own === undefined) return run();
  const { record, completed } = own;
  try {
    const result = await run(record);
    await completed(answer(record, result, request));
    return result;
  } catch (error) {
    await completed(answerError(record, error));
    throw error;
  }
}

function ownWrite(registry: RegistryContext, request: WriteRequest, verb: string, query: string): OwnWrite {
  const { target, name, subresource, user, userAgent } = request;
  const { group, resource } = target.resource.definition;
  const { version } = target.version;
  const place = request.namespace === "" ? "" : `/namespaces/${request.namespace}`;
  const path = [resource, name, subresource].filter((part) => part !== "").join("/");
  // As in the path of a request, a namespace is in itself.
  const namespace = group === "" && resource === "namespaces" ? name : request.namespace;
  const requestUri = `${group === "" ? "/api" : `/apis/${group}`}/${version}${place}/${path}${query}`;
  const auditId = randomUuid(registry.random);
  return { auditId, user, userAgent, verb, group, version, resource, subresource, namespace, name, requestUri };
}

function answerWritten(audit: RequestAudit, written: Written, { target }: WriteRequest): number {
  const object = (): KubeObject =>
    "entry" in written ? storeOf(target.resource).decode(written.entry) : written.object;
  audit.responseObject(() => jsonOf(object(), target));
  return written.created ? 201 : 200;
}

function answerDeleted(audit: RequestAudit, deleted: Deleted, { target, name }: WriteRequest): number {
  const { group, resource: kind } = storedResource(target.resource);
  if (deleted.kind === "gone") {
    const details = { name, ...(group !== "" && { group }), kind, uid: deleted.uid };
    answerStatus(audit, { status: "Success", details });
  } else if (deleted.kind === "pending")
    audit.responseObject(() => jsonOf(storeOf(target.resource).decode(deleted.entry), target));
  return 200;
}

function answerError(audit: RequestAudit, error: unknown): number {
  if (!(error instanceof ApiError)) {
    audit.responseStatus({ status: "Failure", message: String(error), reason: "InternalError" });
    return 500;
  }
  const { message, reason, details, code } = error.status;
  answerStatus(audit, { status: "Failure", message, reason, ...(details !== undefined && { details }), code });
  return code;
}

function answerStatus(audit: RequestAudit, status: Parameters<RequestAudit["responseStatus"]>[0]): void {
  audit.responseStatus(status);
  audit.responseObject(() => JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, ...status }));
}

/** @param object at the storage version; is not changed. Where a webhook converts, it stays at this version */
function jsonOf(object: KubeObject, target: Resolved): string {
  const { schema, conversion } = target.version;
  const copy = conversion === undefined ? { ...object } : cloneJson(object);
  const shown = target.converted === undefined ? atVersion(copy, target) : object;
  return schema.custom === undefined ? encodeValue(shown, schema) : encodeSorted(shown);
}

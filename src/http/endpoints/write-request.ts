/** The parts of requests that all write endpoints read. */

import { dryRunOfQuery } from "../../apimachinery/dry-run.ts";
import { methodNotAllowed, unsupportedMediaType } from "../../apimachinery/errors.ts";
import { FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import { headerText } from "../../apimachinery/header-text.ts";
import { validateFieldManager } from "../../apimachinery/validation/metadata.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { parseMediaType } from "../../lib/media-type/media-type.ts";
import { pauseOf } from "../../lib/pauses.ts";
import type { FieldValidation, RegistryContext, WriteRequest, Written } from "../../registry/contract.ts";
import type { DecodeOptions } from "../../registry/decode-body.ts";
import { throwInvalidOptions, validateDryRun } from "../../registry/options.ts";
import type { RequestLifetime } from "../../request/lifetime.ts";
import { auditedBody } from "../audited-objects.ts";
import type { RequestContext } from "../contract.ts";
import { namesOf } from "../representation/negotiate.ts";
import { sendEntry, sendObject } from "../representation/object.ts";

/** Upstream's limit of request bodies. */
export const bodyBytesMax = 3 * 1024 * 1024;

/** The media type of the body without parameters, lower-case; empty when absent. */
export function contentType({ exchange }: RequestContext): string {
  const header = exchange.header("content-type") ?? "";
  const end = header.indexOf(";");
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}

/**
 * Checks the media type of a body, which is JSON by default.
 * @throws ApiError 415
 */
export function checkContentType(context: RequestContext): void {
  const header = context.exchange.header("content-type") ?? "";
  if (header === "") return;
  const type = parseMediaType(header);
  if (!context.encodings.some(({ mediaType }) => mediaType === type))
    throw unsupportedMediaType(namesOf(context.encodings));
}

/** The options for decoding the request's body. */
export function decodeOptions(
  context: RequestContext,
  { catalog }: RegistryContext,
  { fieldValidation }: Pick<WriteOptions, "fieldValidation">,
): DecodeOptions {
  context.exchange.entered?.("decode");
  const options = { catalog, fieldValidation, warnings: context.warnings, mediaType: contentType(context) };
  return context.audit === undefined ? options : { ...options, decoded: auditedBody(context, context.audit) };
}

/** The write request of the registry. */
export function writeRequest(
  context: RequestContext,
  options: Pick<WriteOptions, "dryRun" | "fieldManager">,
  operationOptions: WriteRequest["operationOptions"] = () => sentOptions(context.info.query),
): WriteRequest {
  const { info, exchange, user, warnings, audit } = context;
  const target = context.resolved as Resolved;
  return {
    target,
    namespace: target.resource.definition.namespaced ? info.namespace : "",
    name: info.name,
    subresource: info.subresource,
    user,
    dryRun: options.dryRun,
    fieldManager: options.fieldManager,
    userAgent: headerText(exchange.header("user-agent") ?? ""),
    operationOptions,
    trace: context.explanation?.trace,
    warnings,
    audit,
    lifetime: lifetimeOf(context),
    pause: pauseOf(exchange.receivedBytes),
  };
}

/**
 * Is over when the client has disconnected or the response is complete. Registers for that only if
 * a plugin needs it.
 */
function lifetimeOf({ exchange, endsAt }: RequestContext): RequestLifetime {
  let callbacks: Set<() => void> | undefined;
  const register = (): Set<() => void> => {
    const added = new Set<() => void>();
    exchange.onClose(() => {
      for (const run of added) run();
    });
    return added;
  };
  return {
    endsAt,
    isOver: () => exchange.closed,
    onEnd(run) {
      callbacks ??= register();
      const all = callbacks.add(run);
      return () => all.delete(run);
    },
  };
}

/** The fields of CreateOptions or UpdateOptions that the query sets. */
function sentOptions(query: URLSearchParams): Record<string, unknown> {
  const dryRun = dryRunOfQuery(query);
  const [fieldManager, fieldValidation] = [query.get("fieldManager"), query.get("fieldValidation")];
  return {
    ...(dryRun.length > 0 && { dryRun }),
    ...(fieldManager && { fieldManager }),
    ...(fieldValidation && { fieldValidation }),
  };
}

/**
 * @throws ApiError 405 for a resource that is not stored, and a subresource that shows neither the
 *   object nor its scale
 */
export function checkView({ info }: RequestContext, { resource, version }: Resolved): void {
  if (resource.store === undefined) throw methodNotAllowed();
  if (info.subresource === "" || (info.subresource === "scale" && resource.definition.strategy.scale !== undefined))
    return;
  const subresource = version.subresources.find(({ name }) => name === info.subresource);
  if (subresource?.kind !== resource.definition.kind) throw methodNotAllowed();
}

/** Sends the outcome of a write. */
export async function sendWritten(context: RequestContext, written: Written): Promise<void> {
  const status = written.created ? 201 : 200;
  if ("entry" in written) await sendEntry(context, written.entry, status);
  else sendObject(context, written.object, status);
}

/** The options of a create, update or patch, validated. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Empty when absent. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Only for apply. */
  readonly force: boolean;
}

const plainWrite: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false };

/** @throws ApiError 422 */
export function readWriteOptions(kind: "CreateOptions" | "UpdateOptions", query: URLSearchParams): WriteOptions {
  if (query.size === 0) return plainWrite;
  const errors = new FieldErrors();
  const options = readCommonOptions(query, errors);
  throwInvalidOptions(kind, errors);
  return options;
}

const levels = ["", "Ignore", "Strict", "Warn"];

/** Reads what the options of all writes have in common. */
export function readCommonOptions(query: URLSearchParams, errors: FieldErrors): WriteOptions {
  const fieldManager = query.get("fieldManager") ?? "";
  validateFieldManager(fieldManager, "fieldManager", errors);
  const dryRun = dryRunOfQuery(query);
  validateDryRun(dryRun, errors);
  const level = query.get("fieldValidation") ?? "";
  if (!levels.includes(level)) errors.notSupported("fieldValidation", plainText(level), levels);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (level || "Warn") as FieldValidation,
    force: false,
  };
}

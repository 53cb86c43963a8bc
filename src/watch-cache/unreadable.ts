/**
 * Errors about stored objects that cannot be decoded. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/corrupt_obj_deleter.go`.
 */
import { ApiError, internalError, plainError, type Status, type StatusCause } from "../apimachinery/errors.ts";
import { formatGroupResource, type GroupResource } from "../apimachinery/object.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { JsonSyntaxError } from "../lib/json/syntax-error.ts";
import { DecodeError } from "../lib/schema/decode.ts";
import { DamagedRecord, type Stored } from "../storage/contract.ts";
import { EncryptedValue } from "../storage/encrypted-value.ts";
import type { CacheCounts } from "./counts.ts";

/** Objects that one error response lists. */
const listedMax = 100;

/** How errors are shown. */
export interface CorruptErrors {
  /** Whether errors name the objects that cannot be read: the gate AllowUnsafeMalformedObjectDeletion. */
  readonly namesCorrupt?: boolean | undefined;
}

/** Collects the errors of objects that cannot be decoded. */
export class Failures {
  /** The first errors, by key. */
  readonly listed = new Map<string, Corrupt>();
  count = 0;

  /** Reads a stored object, or adds why it cannot be decoded. @throws other errors */
  collect({ key, revision }: Stored, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!isReadFailure(error)) throw error;
      this.count += 1;
      if (this.listed.size < listedMax) this.listed.set(key, { revision, error });
    }
  }

  /** Ends a read of many objects. @throws UnreadableObjects when some could not be decoded */
  end(source: CorruptErrors & { readonly resource: GroupResource }, counts: CacheCounts): void {
    counts.decodeErrors += this.count;
    if (this.count > 0) throw new UnreadableObjects(this, source);
  }
}

interface Corrupt {
  readonly revision: number;
  readonly error: Error;
}

/** 500: while a stored object cannot be decoded, the resource can be neither listed nor watched. */
export class UnreadableObjects extends ApiError {
  readonly #failures: Failures;
  readonly #errors: CorruptErrors;

  constructor(failures: Failures, source: CorruptErrors & { readonly resource: GroupResource }) {
    const [[key, corrupt]] = [...failures.listed] as [[string, Corrupt]];
    super(isNamed(corrupt, source) ? named(source.resource, failures) : first(key, corrupt));
    this.#failures = failures;
    this.#errors = source;
  }

  /**
   * Returns the error for a request of one of the objects; undefined when the object is not listed.
   */
  about(key: string): ApiError | undefined {
    const corrupt = this.#failures.listed.get(key);
    return corrupt && unreadable(key, corrupt, this.#errors);
  }
}

/** The error of a list that names the objects. */
function named(resource: GroupResource, { listed, count }: Failures): Status {
  const causes: StatusCause[] = [...listed].map(([field, corrupt]) => ({
    reason: "UnexpectedServerResponse",
    message: corruptText(field, corrupt),
    field,
  }));
  if (count > listed.size)
    causes.push({ reason: "FieldValueTooMany", message: "too many errors, the list is truncated" });
  return {
    code: 500,
    reason: "StorageReadError",
    message: `failed to read one or more ${formatGroupResource(resource)} from the storage`,
    details: {
      name: "list",
      ...(resource.group !== "" && { group: resource.group }),
      kind: resource.resource,
      causes,
    },
  };
}

/** Damage of the file is reported with the object in any case: etcd, below kube-apiserver, does not have it. */
function isNamed({ error }: Corrupt, { namesCorrupt }: CorruptErrors): boolean {
  return namesCorrupt === true || error instanceof DamagedRecord;
}

/** The error of a list that ends with the first object that cannot be read. */
function first(key: string, { error }: Corrupt): Status {
  if (!(error instanceof EncryptedValue)) return undecodable(error).status;
  return internalError(`unable to transform key ${quoteGo(key)}: ${error.message}`).status;
}

/** Returns whether the error says that a stored object cannot be decoded, or decrypted. */
export function isReadFailure(error: unknown): error is Error {
  return (
    error instanceof DecodeError ||
    error instanceof JsonSyntaxError ||
    error instanceof DamagedRecord ||
    error instanceof EncryptedValue
  );
}

/**
 * Reads a stored value for a request of its object.
 * @throws ApiError 500 when it cannot be decoded
 */
export function readable<Result>(stored: Stored, read: (stored: Stored) => Result, errors: CorruptErrors): Result {
  try {
    return read(stored);
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    throw unreadable(stored.key, { revision: stored.revision, error }, errors);
  }
}

/** Creates the error 500 for a request of one object that cannot be decoded. */
function unreadable(key: string, corrupt: Corrupt, errors: CorruptErrors): ApiError {
  // Only errors of lists include the prefix of the registry.
  if (isNamed(corrupt, errors)) return internalError(corruptText(key.replace(/^\/registry/, ""), corrupt));
  const { error } = corrupt;
  return error instanceof EncryptedValue ? internalError(error.message) : undecodable(error);
}

const undecodable = (error: Error): ApiError => plainError(reasonOf(error));

function reasonOf(error: Error): string {
  const { message } = error;
  return error instanceof JsonSyntaxError ? `couldn't get version/kind; json parse error: ${message}` : message;
}

function corruptText(key: string, { revision, error }: Corrupt): string {
  // Upstream does not report the revision of a value that it cannot decrypt.
  const what =
    error instanceof EncryptedValue
      ? "data from the storage is not transformable revision=0"
      : `object not decodable revision=${revision}`;
  return `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${what}: ${reasonOf(error)}`;
}

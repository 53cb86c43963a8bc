/**
 * Errors about stored objects that cannot be decoded. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/corrupt_obj_deleter.go`.
 */
import { ApiError, internalError, type StatusCause } from "../apimachinery/errors.ts";
import { formatGroupResource, type GroupResource } from "../apimachinery/object.ts";
import { JsonSyntaxError } from "../lib/json/syntax-error.ts";
import { DecodeError } from "../lib/schema/decode.ts";
import { DamagedRecord, type Stored } from "../storage/contract.ts";
import { EncryptedValue } from "../storage/encrypted-value.ts";
import type { CacheCounts } from "./counts.ts";

/** Objects that one error response lists. */
const listedMax = 100;

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
  end(resource: GroupResource, counts: CacheCounts): void {
    counts.decodeErrors += this.count;
    if (this.count > 0) throw new UnreadableObjects(resource, this);
  }
}

interface Corrupt {
  readonly revision: number;
  readonly error: Error;
}

/** 500: while a stored object cannot be decoded, the resource can be neither listed nor watched. */
export class UnreadableObjects extends ApiError {
  readonly #failures: Failures;

  constructor(resource: GroupResource, failures: Failures) {
    const causes: StatusCause[] = [...failures.listed].map(([field, corrupt]) => ({
      reason: "UnexpectedServerResponse",
      message: corruptText(field, corrupt),
      field,
    }));
    if (failures.count > failures.listed.size)
      causes.push({ reason: "FieldValueTooMany", message: "too many errors, the list is truncated" });
    super({
      code: 500,
      reason: "StorageReadError",
      message: `failed to read one or more ${formatGroupResource(resource)} from the storage`,
      details: {
        name: "list",
        ...(resource.group !== "" && { group: resource.group }),
        kind: resource.resource,
        causes,
      },
    });
    this.#failures = failures;
  }

  /**
   * Returns the error for a request of one of the objects; undefined when the object is not listed.
   */
  about(key: string): ApiError | undefined {
    const corrupt = this.#failures.listed.get(key);
    return corrupt && unreadable(key, corrupt);
  }
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
export function readable<Result>(stored: Stored, read: (stored: Stored) => Result): Result {
  try {
    return read(stored);
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    throw unreadable(stored.key, { revision: stored.revision, error });
  }
}

/** Creates the error 500 for a request of one object that cannot be decoded. */
function unreadable(key: string, corrupt: Corrupt): ApiError {
  return internalError(corruptText(key.replace(/^\/registry/, ""), corrupt)); // Only errors of lists include the prefix of the registry.
}

function corruptText(key: string, { revision, error }: Corrupt): string {
  const why =
    error instanceof JsonSyntaxError ? `couldn't get version/kind; json parse error: ${error.message}` : error.message;
  // Upstream does not report the revision of a value that it cannot decrypt.
  const what =
    error instanceof EncryptedValue
      ? "data from the storage is not transformable revision=0"
      : `object not decodable revision=${revision}`;
  return `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${what}: ${why}`;
}

/** Objects in the store that are not what their definition says. Source: the etcd3 store's corrupt object errors. */
import { ApiError, internalError, type StatusCause } from "../apimachinery/errors.ts";
import { formatGroupResource, type GroupResource } from "../apimachinery/object.ts";
import { JsonSyntaxError } from "../lib/json/syntax-error.ts";
import { DecodeError } from "../lib/schema/decode.ts";
import { DamagedRecord } from "../storage/contract.ts";

/** Objects that are named in one answer. */
const namedMax = 100;

/** What is wrong, by key; the first ones are kept. */
export class Failures {
  readonly named = new Map<string, Corrupt>();
  count = 0;

  /** @throws the error itself when it is none of reading */
  add(key: string, revision: number, error: unknown): void {
    if (!isReadFailure(error)) throw error;
    this.count += 1;
    if (this.named.size < namedMax) this.named.set(key, { revision, error });
  }
}

interface Corrupt {
  readonly revision: number;
  readonly error: Error;
}

/** 500: as long as one of them is there, a resource can be neither listed nor watched. */
export class UnreadableObjects extends ApiError {
  readonly #failures: Failures;

  constructor(resource: GroupResource, failures: Failures) {
    const causes: StatusCause[] = [...failures.named].map(([field, corrupt]) => ({
      reason: "UnexpectedServerResponse",
      message: corruptText(field, corrupt),
      field,
    }));
    if (failures.count > failures.named.size)
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

  /** What a request for one of the named objects is answered with. */
  about(key: string): ApiError | undefined {
    const corrupt = this.#failures.named.get(key);
    return corrupt && unreadable(key, corrupt);
  }
}

export function isReadFailure(error: unknown): error is Error {
  return error instanceof DecodeError || error instanceof JsonSyntaxError || error instanceof DamagedRecord;
}

/** 500: the object of this key is not what its definition says. */
export function unreadable(key: string, corrupt: Corrupt): ApiError {
  return internalError(corruptText(key.replace(/^\/registry/, ""), corrupt)); // Upstream's store puts that before it where it lists.
}

function corruptText(key: string, { revision, error }: Corrupt): string {
  const why =
    error instanceof JsonSyntaxError ? `couldn't get version/kind; json parse error: ${error.message}` : error.message;
  return `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: ${why}`;
}

/** Objects in the store that are not what their definition says. Source: the etcd3 store's corrupt object errors. */
import { ApiError, internalError, type StatusCause } from "../api/errors.ts";
import { formatGroupResource, type GroupResource } from "../api/object.ts";
import { JsonSyntaxError } from "../lib/json/syntax-error.ts";
import { DecodeError } from "../lib/schema/decode.ts";

/** Objects that are named in one answer. */
const namedMax = 100;

/** What is wrong, by key; the first ones are kept. */
export class Failures {
  readonly named = new Map<string, string>();
  count = 0;

  /** @throws the error itself when it is none of reading */
  add(key: string, revision: number, error: unknown): void {
    if (!isReadFailure(error)) throw error;
    this.count += 1;
    if (this.named.size < namedMax) this.named.set(key, corruptText(key, revision, error));
  }
}

/** 500: as long as one of them is there, a resource can be neither listed nor watched. */
export class UnreadableObjects extends ApiError {
  readonly #failures: Failures;

  constructor(resource: GroupResource, prefix: string, failures: Failures) {
    const causes: StatusCause[] = [...failures.named].map(([field, message]) => ({ reason: "UnexpectedServerResponse", message, field }));
    if (failures.count > failures.named.size) causes.push({ reason: "FieldValueTooMany", message: "too many errors, the list is truncated" });
    super({
      code: 500,
      reason: "StorageReadError",
      message: `failed to read one or more ${formatGroupResource(resource)} from the storage`,
      details: { name: prefix, ...(resource.group !== "" && { group: resource.group }), kind: resource.resource, causes },
    });
    this.#failures = failures;
  }

  /** What a request for one of the named objects is answered with. */
  about(key: string): ApiError | undefined {
    const text = this.#failures.named.get(key);
    return text === undefined ? undefined : internalError(text);
  }
}

export function isReadFailure(error: unknown): error is Error {
  return error instanceof DecodeError || error instanceof JsonSyntaxError;
}

function corruptText(key: string, revision: number, error: Error): string {
  return `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: ${error.message}`;
}

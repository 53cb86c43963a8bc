/** The answers to requests that the store cannot serve. */
import { type ApiError, internalError, plainError, serviceUnavailable, timeout } from "../apimachinery/errors.ts";
import { SharedStoreError, StorageUnavailable, ValueTooLarge } from "../storage/contract.ts";
import { EncryptionFailed } from "../storage/encryption/contract.ts";

/**
 * The answer to a request that failed with an error of the store: 500 with the text of a shared
 * store or 504, as upstream (`ErrorToAPIStatus` and `FinishRequest` in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers); 503 when an embedded store is not available.
 *
 * @returns undefined for other errors
 */
export function answerOfStorageError(error: unknown): ApiError | undefined {
  if (error instanceof ValueTooLarge) return plainError(error.message);
  if (error instanceof EncryptionFailed) return internalError(error.message);
  if (!(error instanceof StorageUnavailable)) return undefined;
  if (!(error instanceof SharedStoreError)) return serviceUnavailable(error.message);
  if (error.isTimeout) return timeout(`request did not complete within requested timeout - ${error.message}`);
  return plainError(error.message);
}

import { badRequest } from "../../apimachinery/errors.ts";

/** The errors of the kit, by their names: what they say is for the client. Others are bugs. */
const ownErrors: ReadonlySet<string> = new Set(["Error", "WebhookSpecError", "ManifestError"]);

/**
 * Runs what a client has asked for.
 * @throws ApiError 400 with the message of an error of the kit
 */
export async function asBadRequest<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error && ownErrors.has(error.name)) throw badRequest(error.message);
    throw error;
  }
}

import type { TestResponse } from "./contract.ts";

/**
 * Reads the object of an answer.
 *
 * @param accepted a status that is no error
 * @throws Error with the message of the server
 */
// biome-ignore lint/suspicious/noExplicitAny: an object of any kind.
export async function expectOk(answer: Promise<TestResponse>, accepted?: number): Promise<any> {
  const response = await answer;
  const body = await response.json();
  if (!response.ok && response.status !== accepted) throw new Error(body.message);
  return body;
}

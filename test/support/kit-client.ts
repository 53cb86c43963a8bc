/** Short requests for the tests of the test kit. */
import type { RunningServer } from "../../src/index.ts";
import { type Answer, rawClient } from "./raw-client.ts";

/** A client of one server. */
export interface KitClient {
  /** Sends a request. @param user impersonates this user */
  send(method: string, path: string, body?: object, user?: string): Promise<Answer>;
  /** As `send`. @throws Error unless the answer is 200 or 201 */
  ok(method: string, path: string, body?: object): Promise<Answer>;
  /** Returns the names in a list, each with the field `data.v` of its object. */
  list(path: string): Promise<string[]>;
  close(): void;
}

/** A client that authenticates as a member of system:masters. */
export function kitClient({ kubeconfig }: Pick<RunningServer, "kubeconfig">): KitClient {
  const client = rawClient(kubeconfig);
  const send = (method: string, path: string, body?: object, user?: string): Promise<Answer> =>
    client.send({
      method,
      path,
      ...(body !== undefined && { body }),
      ...(user !== undefined && { headers: { "impersonate-user": user } }),
    });
  const ok = async (method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await send(method, path, body);
    if (answer.status !== 200 && answer.status !== 201) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer;
  };
  return {
    send,
    ok,
    async list(path) {
      const items: { metadata: { name: string }; data?: { v?: string } }[] = (await ok("GET", path)).body.items;
      return items.map(({ metadata, data }) => `${metadata.name}=${data?.v ?? ""}`);
    },
    close: () => client.close(),
  };
}

/** A ConfigMap with the field `data.v`. */
export function configMap(name: string, v: string): object {
  return { kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data: { v } };
}

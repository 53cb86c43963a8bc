/** A server and a client of it for one test file. */
import { after } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import { type RawClient, rawClient } from "./raw-client.ts";
import { startTestServer, type TestServer } from "./start-test-server.ts";

export interface ServerWithClient {
  readonly server: TestServer;
  /** Authenticates as a member of system:masters. */
  readonly client: RawClient;
}

/**
 * Starts a server and closes it, after its client, at the end of the calling file or suite. A file
 * awaits it before it declares its first test: node:test runs the hooks of a file as soon as all
 * tests declared so far have ended.
 */
export async function startServerWithClient(options: Partial<ServerOptions> = {}): Promise<ServerWithClient> {
  const server = await startTestServer(options);
  const client = rawClient(server.kubeconfig);
  after(async () => {
    client.close();
    await server.close();
  });
  return { server, client };
}

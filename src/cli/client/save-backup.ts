/** Takes a backup over the API of a running server. */
import type { FileHandle } from "node:fs/promises";
import { readKubeconfig } from "../../lib/kubeconfig/kubeconfig.ts";
import { parseObject } from "./ask.ts";
import { openClient } from "./client.ts";

/** The server ends slow backups itself. */
const timeoutMs = 24 * 3_600_000;
/** Bytes of an error that are shown. */
const errorBytesMax = 4096;

/**
 * Writes the response of `POST /storage/backup` to a file.
 * @param kubeconfig file of a user with permission for the path
 * @param signal stops the backup
 * @throws Error with the server's message, or when the connection fails
 */
export async function saveBackup(kubeconfig: string, file: FileHandle, signal: AbortSignal): Promise<void> {
  const client = await openClient(await readKubeconfig(kubeconfig), {
    environment: { env: process.env, stdinIsTerminal: false, now: Date.now },
    timeoutMs,
  });
  try {
    const response = await client.open({ method: "POST", path: "/storage/backup", headers: { accept: "*/*" } });
    signal.addEventListener("abort", () => response.destroy(new Error("stopped")));
    if (response.statusCode !== 200) throw new Error(`${client.server}: ${await messageOf(response)}`);
    for await (const piece of response as AsyncIterable<Buffer>) await file.appendFile(piece);
  } finally {
    client.close();
  }
}

async function messageOf(response: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of response) if (text.length < errorBytesMax) text += piece;
  return parseObject(text)?.message ?? text;
}

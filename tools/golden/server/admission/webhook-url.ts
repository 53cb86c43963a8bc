/** The port of the scripted webhook for families whose server is configured with its address, and so starts later. */
export const webhookPort = 18_443;

/** @param path of the webhook */
export function webhookUrl(path: string): string {
  return `https://127.0.0.1:${webhookPort}${path}`;
}

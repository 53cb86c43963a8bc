/** The version of an IP address. */
import { isIP, isIPv4 } from "node:net";

/**
 * As `isIP` of `node:net`, which compiles a large regular expression for all texts that are no IPv4 addresses: that takes as long as a request
 * of a new process, and most of these texts are names of hosts.
 */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (text.includes(":")) return isIP(text) === 6 ? 6 : 0;
  return isIPv4(text) ? 4 : 0;
}

/** The version of an IP address. */
import { isIP, isIPv4 } from "node:net";

const ipv6Characters = /^[\da-f:.]+$/i;

/**
 * As `isIP` of `node:net`, which compiles a large regular expression when it first sees a text that is no IPv4 address. A server that starts
 * would wait for that; the parser of URLs is compiled.
 */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (!text.includes(":")) return isIPv4(text) ? 4 : 0;
  if (text.includes("%")) return isIP(text) === 6 ? 6 : 0; // URLs have no zones.
  return ipv6Characters.test(text) && URL.canParse(`http://[${text}]`) ? 6 : 0;
}

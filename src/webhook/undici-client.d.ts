/**
 * The package exports all its parts as one module, which takes three times as long to load as the
 * client of one connection, and 7 MB more.
 */
declare module "undici/lib/dispatcher/client.js" {
  export { Client as default } from "undici";
}

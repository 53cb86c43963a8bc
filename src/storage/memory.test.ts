import type { Open } from "../../test/support/storage-suite.ts";
import { storageContract } from "./contract.suite.ts";
import { embeddedContract } from "./embedded/embedded.suite.ts";
import { openMemoryStorage } from "./memory.ts";

const open: Open = async (options) => ({ storage: await openMemoryStorage(options), reopen: undefined });
storageContract("memory", open);
embeddedContract("memory", open);

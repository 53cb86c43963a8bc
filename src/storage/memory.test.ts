import { storageContract } from "./contract.suite.ts";
import { openMemoryStorage } from "./memory.ts";

storageContract("memory", async (options) => ({ storage: await openMemoryStorage(options), reopen: undefined }));

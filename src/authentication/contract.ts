import type { UserInfo } from "../api/user.ts";
import type { Exchange } from "../http/contract.ts";

/** @returns undefined when the request carries nothing this authenticator knows. @throws ApiError 401 when it does, and it is wrong */
export type Authenticator = (exchange: Exchange) => UserInfo | undefined | Promise<UserInfo | undefined>;

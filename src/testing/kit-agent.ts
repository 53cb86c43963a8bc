/** The user agent of `fetch`, and the field manager of installations. */
export const kitAgent = "coxswain-testing";

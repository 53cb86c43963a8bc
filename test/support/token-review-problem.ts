/**
 * Reads the problem of the one authenticator that rejects a token from the error of a TokenReview,
 * which begins with that of the authenticator for the server's own token.
 */
export function tokenReviewProblem(error: string): string | undefined {
  return /^\[invalid bearer token, (.*)\]$/s.exec(error)?.[1];
}

/** How long the result of a check of a service is used for health checks. */
export const healthyResultMs = 20_000;
export const failedResultMs = 3_000;

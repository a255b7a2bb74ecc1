/** Cost limits of expressions. Upstream: apiserver/pkg/apis/cel/config.go, pkg/cel/limits.go. */

/** Limit of one expression at run time. */
export const perCallLimit = 1_000_000;
/** Budget of all expressions of a policy or a custom resource for one request. */
export const runtimeCELCostBudget = 10_000_000;
/** Budget of all match conditions of a webhook or policy for one request. */
export const runtimeCELCostBudgetMatchConditions = 2_500_000;
/** Maximum request size; it bounds data that the schema leaves unbounded. */
export const maxRequestSizeBytes = 3 * 1024 * 1024;
/** Maximum size of the result of a message expression. */
export const maxEvaluatedMessageExpressionSizeBytes = 5 * 1024;

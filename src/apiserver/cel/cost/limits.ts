/** How much expressions may cost. Upstream: apiserver/pkg/apis/cel/config.go, pkg/cel/limits.go. */

/** One expression, at run time. */
export const perCallLimit = 1_000_000;
/** All expressions of one policy, or of one custom resource, for one request. */
export const runtimeCELCostBudget = 10_000_000;
/** All match conditions of one webhook or policy, for one request. */
export const runtimeCELCostBudgetMatchConditions = 2_500_000;
/** The largest object that a request can hold; what a schema does not bound is bounded by it. */
export const maxRequestSizeBytes = 3 * 1024 * 1024;
/** The longest message that a message expression may make. */
export const maxEvaluatedMessageExpressionSizeBytes = 5 * 1024;

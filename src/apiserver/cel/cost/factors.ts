/** What operations cost. Upstream: cel-go common/cost.go. */
export const selectAndIdentCost = 1;
export const listCreateCost = 10;
export const mapCreateCost = 30;
export const structCreateCost = 40;
/** For each code point of a text that is gone through. */
export const stringTraversalFactor = 0.1;
/** For each code point of a regular expression. */
export const regexLengthFactor = 0.25;
/** What a question to the authorizer costs. */
export const authorizationCheckCost = 350_000;
/** Requirements that one code point of a selector may stand for. */
export const selectorRequirementFactor = 0.5;

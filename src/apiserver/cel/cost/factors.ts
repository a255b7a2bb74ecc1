/** Cost factors of operations. Upstream: cel-go common/cost.go. */
export const selectAndIdentCost = 1;
export const listCreateCost = 10;
export const mapCreateCost = 30;
export const structCreateCost = 40;
/** Cost for each code point of a traversed string. */
export const stringTraversalFactor = 0.1;
/** Cost for each code point of a regular expression. */
export const regexLengthFactor = 0.25;
/** Cost of an authorization check. */
export const authorizationCheckCost = 350_000;
/** Requirements for each code point of a selector. */
export const selectorRequirementFactor = 0.5;

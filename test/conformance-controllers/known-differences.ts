/** Scenarios whose outcome differs from the recorded one, with the reason. The test fails when one of them becomes equal. */
export const knownDifferences: Readonly<Record<string, string>> = {};

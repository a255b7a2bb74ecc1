/** Returns the path of a runtime's binary, which npm gets the first time. Throws an Error that says why there is none. */
export function getRuntime(name: 'node20' | 'bun' | 'deno'): string;

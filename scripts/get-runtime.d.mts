/**
 * Returns the path of a runtime's binary, downloaded by npm at first use. Throws an Error with the reason if it is
 * unavailable.
 */
export function getRuntime(name: 'node20' | 'bun' | 'deno'): string;

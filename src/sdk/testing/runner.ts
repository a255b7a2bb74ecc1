interface Runner {
  describe(name: string, body: () => void): unknown;
  it(name: string, test: () => Promise<void>): unknown;
}

/** The test runner of the file: vitest, or node:test. */
export const runner: Runner = process.env['VITEST'] === undefined ? await import('node:test') : await import('vitest');

import { defineConfig } from 'vitest/config';

/** What packages import, from the source; the examples are packages of their own, for which that is not their own name. */
const alias = [
  { find: /^kubenest\/(sdk|sdk\/testing|testing)$/, replacement: `${import.meta.dirname}/src/$1/index.ts` },
  { find: 'kubenest/sdk/configuration', replacement: `${import.meta.dirname}/src/sdk/configuration.ts` },
];

export default defineConfig({
  resolve: { conditions: ['kubenest-source'], alias },
  ssr: { resolve: { conditions: ['kubenest-source'] } },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    include: ['src/**/*.test.ts', 'plugins/**/*.test.ts', 'scripts/**/*.test.ts', 'test/**/*.test.ts'],
    // `TEST_STORAGE=redis` or `etcd`: where the test clusters keep their objects, instead of memory.
    globalSetup: ['test/servers/test-storage.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    testTimeout: 20_000,
  },
});

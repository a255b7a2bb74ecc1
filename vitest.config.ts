import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['kubenest-source'] },
  ssr: { resolve: { conditions: ['kubenest-source'] } },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    include: ['src/**/*.test.ts', 'plugins/**/*.test.ts', 'scripts/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['plugins/example/**', 'node_modules/**', 'dist/**'],
    pool: 'forks',
    testTimeout: 20_000,
  },
});

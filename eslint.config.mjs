import { defineConfig } from 'eslint/config';
import { parser, plugin } from 'typescript-eslint';

// Only the rules that need types; all others, and the format, are Biome's. One program for all files takes three quarters of the time that the
// project service takes, which has one for each package.
const pauses = '/^(sleep|delay)$/';
const polling = 'Await a state by an event, `vi.waitUntil`, `vi.waitFor` or `until` (test/servers), which have a deadline.';

export default defineConfig([
  {
    files: ['src/**/*.ts', 'plugins/**/*.ts', 'test/**/*.ts', 'scripts/**/*.ts'],
    ignores: ['**/*.gen.ts', 'test/types/mistakes/**'],
    languageOptions: { parser, parserOptions: { project: 'tsconfig.lint.json', tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@typescript-eslint': plugin },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-for-in-array': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['**/*.test.ts'],
    languageOptions: { parser },
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: `WhileStatement > ExpressionStatement > AwaitExpression > CallExpression[callee.name=${pauses}]`, message: polling },
        { selector: "WhileStatement > ExpressionStatement > AwaitExpression > NewExpression[callee.name='Promise']", message: polling },
        {
          selector: `ForStatement[body.type='EmptyStatement'] > AwaitExpression > CallExpression[callee.name=${pauses}]`,
          message: polling,
        },
      ],
    },
  },
]);

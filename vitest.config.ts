import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** What packages import, from the source; the examples are packages of their own, for which that is not their own name. */
const alias = [
  { find: /^kubenest\/(sdk|sdk\/testing|testing)$/, replacement: `${import.meta.dirname}/src/$1/index.ts` },
  { find: 'kubenest/kinds', replacement: `${import.meta.dirname}/src/kubernetes/kinds.gen.ts` },
  { find: /^kubenest\/(sdk\/(?:configuration|pages))$/, replacement: `${import.meta.dirname}/src/$1.ts` },
];

/** Tests beside the code that start a redis, an etcd or a server for each test, or that sync thousands of writes. */
const withServers = [
  'plugins/storage/{redis,etcd}/**/*.test.ts',
  'plugins/storage/embedded/*.conformance.test.ts',
  'plugins/controllers/policy-scan/*.test.ts',
  'src/cmd/policy-audit/{policy-audit,audited-webhooks}.test.ts',
];

/**
 * What measures turns, processor time or memory runs after all others, so that each has a core, and a heap of its own, so that others' garbage is
 * not collected meanwhile.
 */
const measured = [
  'test/bench/**/*.test.ts',
  'test/integration/isolated-plugins.test.ts',
  'test/security/{controller-turns,event-loop,large-lists,large-reviews,patterns,quotas,unread-lists,http2/budget}.test.ts',
];

/** Workers for the tests that measure nothing: one more than there are cores, because most files wait for servers and timers. */
const maxWorkers = availableParallelism() + 1;

/** What compares times or rates has the machine to itself: last, one file at a time. */
const timed = ['test/fault/{greedy-clients,list-storm,overload,watcher-storm}.test.ts', 'test/security/content/*.test.ts'];

export default defineConfig({
  resolve: { conditions: ['kubenest-source'], alias },
  ssr: { resolve: { conditions: ['kubenest-source'] } },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    // `TEST_STORAGE=redis` or `etcd`: where the test clusters keep their objects, instead of memory.
    globalSetup: ['test/servers/test-storage.ts'],
    setupFiles: ['patience', 'seed'].map((name) => `${import.meta.dirname}/test/set-up/${name}.ts`),
    pool: 'forks',
    // The files of a worker share its modules: to load the server anew for each would take longer than most of the tests.
    isolate: false,
    reporters: ['default', `${import.meta.dirname}/test/reporter/summary.ts`],
    // The summary lists the slowest; a line for each slow test hides the failures of its file.
    slowTestThreshold: 600_000,
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Messages of failures show both values whole: reports of CI have no other form of them.
    chaiConfig: { truncateThreshold: 0 },
    testTimeout: 40_000,
    // Starting a server and filling it takes seconds where the machine is busy.
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          maxWorkers,
          include: ['src/**/*.test.ts', 'plugins/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [...configDefaults.exclude, '**/dist/**', ...withServers],
          // With the default, 0, they would be the last where there is one worker.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'tests',
          maxWorkers,
          include: ['test/**/*.test.ts', ...withServers],
          exclude: [...configDefaults.exclude, '**/dist/**', ...measured, ...timed],
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'measured', include: measured, isolate: true, sequence: { groupOrder: 2 } } },
      { extends: true, test: { name: 'timed', include: timed, isolate: true, fileParallelism: false, sequence: { groupOrder: 3 } } },
    ],
  },
});

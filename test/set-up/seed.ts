import fc from 'fast-check';

/** Property tests play the same values in each run; another seed is set by `KUBENEST_TEST_SEED=N`. A failure prints its own seed. */
fc.configureGlobal({ seed: Number(process.env['KUBENEST_TEST_SEED'] ?? 20260401) });

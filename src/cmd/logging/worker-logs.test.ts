import { expect, it } from 'vitest';
import { warnOfExcessWorkers } from './worker-logs.ts';

it.each([
  { workers: 0, most: 0, warnings: 0 },
  { workers: 1, most: 0, warnings: 1 },
  { workers: 2, most: 2, warnings: 0 },
  { workers: 3, most: 2, warnings: 1 },
])('$workers serving workers where $most can be busy: $warnings warnings', ({ workers, most, warnings }) => {
  const logged: object[] = [];
  warnOfExcessWorkers({ warn: (fields) => void logged.push(fields) }, workers, most);
  expect(logged).toEqual(warnings > 0 ? [{ workers, most }] : []);
});

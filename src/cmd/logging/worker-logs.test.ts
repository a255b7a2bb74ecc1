import { expect, it } from 'vitest';
import { tellCostlyWorkers } from './worker-logs.ts';

it.each([
  { workers: 0, most: 0, warnings: 0 },
  { workers: 1, most: 0, warnings: 1 },
  { workers: 2, most: 2, warnings: 0 },
  { workers: 3, most: 2, warnings: 1 },
])('$workers serving workers where $most can be busy: $warnings warnings', ({ workers, most, warnings }) => {
  const told: object[] = [];
  tellCostlyWorkers({ warn: (fields) => void told.push(fields) }, workers, most);
  expect(told).toEqual(warnings > 0 ? [{ workers, most }] : []);
});

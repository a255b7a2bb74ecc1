import { expect, it } from 'vitest';
import type { JobSpec, JobStatus } from '#kubernetes/schema/batch_v1.gen';
import { validateJobStatusUpdate } from './job-status.ts';

const job = (status: JobStatus, spec: JobSpec = { completions: 2, parallelism: 1 }) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j', resourceVersion: '1' },
  spec,
  status,
});
const condition = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));
const startTime = '2020-01-01T00:00:00Z';
const completionTime = '2020-01-02T00:00:00Z';

interface Row {
  readonly name: string;
  readonly old?: JobStatus;
  readonly status: JobStatus;
  readonly spec?: JobSpec;
  readonly errors: readonly string[];
}

it.each<Row>([
  { name: 'work begins', status: { active: 1, startTime }, errors: [] },
  {
    name: 'a job completes',
    old: { startTime },
    status: { startTime, completionTime, conditions: condition('SuccessCriteriaMet', 'Complete') },
    errors: [],
  },
  { name: 'a negative count', status: { active: -1 }, errors: ['status.active: Invalid value: -1: must be greater than or equal to 0'] },
  {
    name: 'a Complete condition without its other fields',
    old: { startTime },
    status: { startTime, conditions: condition('Complete') },
    errors: [
      'status.completionTime: Required value: completionTime is required for Complete jobs',
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
  },
  {
    name: 'a changed start time',
    old: { startTime },
    status: { startTime: completionTime },
    errors: [`status.startTime: Invalid value: "${completionTime}": field is immutable for unsuspended job once set`],
  },
  {
    name: 'a changed start time of a resumed job',
    old: { startTime, conditions: condition('Suspended') },
    status: { startTime: completionTime, conditions: [{ type: 'Suspended', status: 'False' }] },
    errors: [],
  },
  {
    name: 'successes vanish',
    old: { succeeded: 2 },
    status: { succeeded: 1 },
    errors: ['status.succeeded: Invalid value: 1: cannot decrease the succeeded counter'],
  },
  {
    name: 'a decreasing number of succeeded pods of an elastic job',
    old: { succeeded: 2 },
    status: { succeeded: 1 },
    spec: { completions: 3, parallelism: 3, completionMode: 'Indexed' },
    errors: [],
  },
  {
    name: 'a removed Failed condition',
    old: { startTime, conditions: condition('Failed', 'FailureTarget') },
    status: { startTime, conditions: condition('FailureTarget') },
    errors: ['status.conditions: Invalid value: cannot disable the terminal Failed=True condition'],
  },
  {
    name: 'more ready than active pods',
    status: { active: 1, ready: 2 },
    errors: ['status.ready: Invalid value: 2: cannot set more ready pods than active'],
  },
  { name: 'a status that was invalid before', old: { active: 1, ready: 2 }, status: { active: 1, ready: 2, failed: 1 }, errors: [] },
  {
    name: 'completed indexes of a non-indexed job',
    status: { completedIndexes: '0' },
    errors: ['status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode'],
  },
])('$name', ({ old = {}, status, spec, errors }) => {
  expect(validateJobStatusUpdate(job(status, spec), job(old, spec)).map(String)).toEqual(errors);
});

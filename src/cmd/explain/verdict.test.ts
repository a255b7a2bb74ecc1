import { expect, it } from 'vitest';
import type { TraceStep } from '#apiserver/request/request-trace';
import { type Verdict, verdictOf } from './verdict.ts';

const step = (stage: TraceStep['stage'], verdict: string): TraceStep => ({ stage, name: 'a', milliseconds: 0, verdict });
const allowed = step('authorization', 'Allow');

it.each<{ name: string; status: number; steps: TraceStep[]; isConnection?: boolean; verdict: Verdict }>([
  { name: 'a success', status: 201, steps: [allowed, step('admit', 'changed')], verdict: 'admitted' },
  {
    name: 'a denial by a validating plugin',
    status: 403,
    steps: [allowed, step('admit', 'changed'), step('validate', 'denied')],
    verdict: 'denied',
  },
  { name: 'a denial with the code of validation', status: 422, steps: [allowed, step('admit', 'denied')], verdict: 'denied' },
  { name: 'a failure of a plugin', status: 500, steps: [allowed, step('validate', 'failed')], verdict: 'failed' },
  { name: 'no decision of an authorizer', status: 403, steps: [step('authorization', 'NoOpinion')], verdict: 'forbidden' },
  { name: 'a failure of validation', status: 422, steps: [allowed, step('admit', 'admitted')], verdict: 'invalid' },
  {
    name: 'a connection without a kubelet',
    status: 500,
    steps: [allowed, step('validate', 'admitted')],
    isConnection: true,
    verdict: 'admitted',
  },
  { name: 'a connection to a missing object', status: 404, steps: [allowed], isConnection: true, verdict: 'invalid' },
])('$name is $verdict', ({ status, steps, isConnection = false, verdict }) => {
  const trace = { id: '', receivedAt: '', milliseconds: 0, method: '', url: '', user: null, impersonator: null, message: '', warnings: [] };
  expect(verdictOf({ ...trace, status, steps }, isConnection)).toBe(verdict);
});

import { expect, it } from 'vitest';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { traceText } from './trace-text.ts';

const trace: TraceDocument = {
  id: 'id',
  receivedAt: '2026-01-01T00:00:00.000Z',
  milliseconds: 3,
  method: 'POST',
  url: '/api/v1/pods',
  user: { name: 'ali', groups: [] },
  impersonator: { name: 'admin', groups: [] },
  status: 403,
  message: 'pods "web" is forbidden: no',
  warnings: ['take care'],
  steps: [
    { stage: 'authentication', name: 'ClientCA', milliseconds: 0, verdict: 'no opinion' },
    { stage: 'authentication', name: 'TokenAuth', milliseconds: 0.1, verdict: 'knows the user', reason: 'admin' },
    { stage: 'authorization', name: 'RBAC', milliseconds: 0.2, verdict: 'Allow' },
    { stage: 'admit', name: 'Priority', milliseconds: 0.3, verdict: 'changed', patch: [{ op: 'add', path: '/spec/priority', value: 0n }] },
    { stage: 'admit', name: 'Old', milliseconds: 0.3, verdict: 'changed', patch: [{ op: 'remove', path: '/spec/old' }] },
    { stage: 'admit', name: 'LimitRanger', milliseconds: 0.1, verdict: 'admitted' },
    {
      stage: 'validate',
      name: 'Hooks',
      milliseconds: 2,
      verdict: 'denied',
      reason: 'no\n\u001b[31mroot#',
      notes: [
        { kind: 'policy', name: 'p', verdict: 'holds' },
        { kind: 'webhook', name: 'a/b', milliseconds: 2, verdict: 'denied', details: { uid: 'x'.repeat(200) } },
        { kind: 'policy', name: 'q', verdict: 'holds' },
      ],
    },
  ],
};

it('formats a tree of the steps that had an effect, with printable lines', () => {
  expect(traceText(trace).split('\n')).toEqual([
    'POST /api/v1/pods by ali, impersonated by admin: 403 pods "web" is forbidden: no',
    '├─ Authentication',
    '│  ├─ TokenAuth: knows the user: admin (0.1 ms)',
    '│  └─ no effect: ClientCA',
    '├─ Authorization',
    '│  └─ RBAC: Allow (0.2 ms)',
    '├─ Mutating admission',
    '│  ├─ Priority: changed (0.3 ms)',
    '│  │  └─ + /spec/priority = 0',
    '│  ├─ Old: changed (0.3 ms)',
    '│  │  └─ - /spec/old',
    '│  └─ no effect: LimitRanger',
    '├─ Validating admission',
    '│  └─ Hooks: denied: no [31mroot# (2 ms)',
    '│     ├─ webhook a/b: denied (2 ms)',
    `│     │  └─ uid = "${'x'.repeat(99)}…`,
    '│     └─ satisfied: p, q',
    '├─ warning: take care',
    '└─ 3 ms in total; 2026-01-01T00:00:00.000Z, trace id',
  ]);
});

import { expect, it } from 'vitest';
import type { RequestContext } from '#apiserver/request/request-context';
import type { AdmissionSteps, Phase, Step } from './admission-chain.ts';
import type { ObjectForms } from './object-forms.ts';
import { RequestAdmission } from './request-admission.ts';
import { StepSelection } from './step-selection.ts';

it('records only annotations with a qualified key (prefix/name)', async () => {
  const auditAnnotations = new Map<string, string>();
  const context = { auditAnnotations, authenticatedUser: { name: 'jane', groups: [] }, deadline: 0 } as unknown as RequestContext;
  const phaseOf = (steps: Step[]): Phase => ({ steps, selection: new StepSelection(steps), timer: undefined });
  const note = {
    name: 'Note',
    timer: undefined,
    scope: undefined,
    run: (request: { addAnnotation(key: string, value: string): void }): void => {
      for (const key of ['a.example.com/ok', 'a.example.com/ok', 'plain', 'a.example.com/bad key', 'a.example.com/b/c', '/x'])
        request.addAnnotation(key, key);
    },
  };
  const chain: AdmissionSteps = { for: () => ({ mutating: phaseOf([note]), validating: phaseOf([]) }) };
  const target = {
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subresource: '',
    forms: {} as ObjectForms,
  };
  const call = { namespace: 'ns', name: 'x', object: undefined, oldObject: undefined, options: {}, dryRun: false } as const;
  await new RequestAdmission(chain, context, target).admit({ operation: 'CREATE', ...call });
  expect([...auditAnnotations]).toEqual([['a.example.com/ok', 'a.example.com/ok']]);
});

import { expect, it } from 'vitest';
import { tables } from '#kubernetes/schema/schema';
import { type RbacTable, withFeatures } from './rbac-features.ts';

const byDefault: Readonly<Record<string, boolean>> = { KubeletServiceAccountTokenForCredentialProviders: true };
const table = tables.table<RbacTable>('rbac');

function rulesOf(role: string, gates: Readonly<Record<string, boolean>>): unknown {
  const { clusterroles } = withFeatures(table, (feature) => gates[feature] ?? byDefault[feature] ?? false);
  return (clusterroles.find(({ metadata }) => metadata.name === role) as { rules?: unknown } | undefined)?.rules;
}

const read = ['get', 'list', 'watch'];

// Recorded from kube-apiserver v1.36.3: the rules that a gate adds or removes.
it.each([
  {
    gate: 'DRAWorkloadResourceClaims',
    on: true,
    role: 'resource-claim-controller',
    added: [{ verbs: read, apiGroups: ['scheduling.k8s.io'], resources: ['podgroups'] }],
  },
  {
    gate: 'WorkloadWithJob',
    on: true,
    role: 'job-controller',
    added: [{ verbs: ['create', ...read], apiGroups: ['scheduling.k8s.io'], resources: ['podgroups', 'workloads'] }],
  },
  {
    gate: 'DRAResourcePoolStatus',
    on: true,
    role: 'resourcepoolstatusrequest-controller',
    added: [{ verbs: read, apiGroups: ['resource.k8s.io'], resources: ['resourceslices'] }],
  },
])('$gate adds rules for the $role', ({ gate, on, role, added }) => {
  const name = `system:controller:${role}`;
  const before = rulesOf(name, {}) ?? [];
  expect(before).not.toEqual(expect.arrayContaining(added));
  expect(rulesOf(name, { [gate]: on })).toEqual(expect.arrayContaining([...(before as unknown[]), ...added]));
});

it('nodes do not get service accounts without KubeletServiceAccountTokenForCredentialProviders', () => {
  const reads = { verbs: ['get'], apiGroups: [''], resources: ['serviceaccounts'] };
  expect(rulesOf('system:node', {})).toContainEqual(reads);
  const off = rulesOf('system:node', { KubeletServiceAccountTokenForCredentialProviders: false });
  expect(off).not.toContainEqual(reads);
  expect(off).toContainEqual({ verbs: ['create'], apiGroups: [''], resources: ['serviceaccounts/token'] });
});

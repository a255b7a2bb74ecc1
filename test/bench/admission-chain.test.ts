import { expect, it } from 'vitest';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { RequestAdmission } from '#apiserver/admission/request-admission';
import { startTestCluster } from '#testing/index';

const rounds = 5;
const creations = 4_000;
/** Microseconds that all plugins together may take of the creation of a pod. */
const most = 100;

/** The fields of a request that plugins of a pod's creation look at. */
const context = { authenticatedUser: { name: 'admin', groups: ['system:masters'] }, deadline: 0, warn() {} };
const gvk = { group: '', version: 'v1', kind: 'Pod' };
const target = { kind: gvk, resource: { group: '', version: 'v1', resource: 'pods' }, subresource: '', forms: { equivalents: [] } };
const pod = () => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'x', namespace: 'default' },
  spec: { containers: [{ name: 'a', image: 'b', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] },
});

it(`the default admission plugins take less than ${most} µs of the creation of a pod`, async () => {
  await using cluster = await startTestCluster({
    flags: ['--enable-admission-plugins=ServiceAccount,NodeRestriction'],
    objects: [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }],
  });
  const chain = cluster.app.nest.get(AdmissionChain) as AdmissionChain;
  const admitOne = async (): Promise<void> => {
    const admission = new RequestAdmission(chain, context as never, target as never);
    const call = {
      operation: 'CREATE',
      namespace: 'default',
      name: 'x',
      object: pod(),
      oldObject: undefined,
      options: {},
      dryRun: false,
    } as const;
    const admitted = admission.admit(call);
    if (admitted) await admitted;
    const validated = admission.validate(call);
    if (validated) await validated;
  };
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    for (let i = 0; i < creations; i += 1) await admitOne();
    times.push(((performance.now() - began) * 1_000) / creations);
  }
  expect(Math.min(...times)).toBeLessThan(most);
});

import { expect, it } from 'vitest';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { RequestAdmission } from '#apiserver/admission/request-admission';
import { startTestCluster } from '#testing/index';
import { costOfCalls, leastCosts } from './least-costs.ts';

const creations = 2_000;
/** Limit in microseconds of all plugins together for the creation of a pod. */
const most = 100;
/** Limit in microseconds: a twentieth of a creation over HTTP/2, which takes about 200 µs. */
const mostOfPolicies = 10;
const policies = 200;

/** The properties of a request that plugins read when a pod is created. */
const context = { authenticatedUser: { name: 'admin', groups: ['system:masters'] }, deadline: 0, warn() {} };
const gvk = { group: '', version: 'v1', kind: 'Pod' };
const target = { kind: gvk, resource: { group: '', version: 'v1', resource: 'pods' }, subresource: '', forms: { equivalents: [] } };
const pod = () => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'x', namespace: 'default' },
  spec: { containers: [{ name: 'a', image: 'b', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] },
});

/** Returns the microseconds of the plugins for the creation of a pod. */
function costOf(chain: AdmissionChain): Promise<number> {
  return costOfCalls(creations, async () => {
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
  });
}

it(`the default admission plugins take less than ${most} µs of the creation of a pod`, async () => {
  await using cluster = await startTestCluster({
    flags: ['--enable-admission-plugins=ServiceAccount,NodeRestriction'],
    objects: [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }],
  });
  const chain = cluster.app.nest.get(AdmissionChain) as AdmissionChain;
  const { cost } = await leastCosts({ cost: () => costOf(chain) }, (least) => least.cost < most);
  expect(cost).toBeLessThan(most);
});

it(`${policies} policies of other resources add less than ${mostOfPolicies} µs to the creation of a pod`, async () => {
  await using plain = await startTestCluster();
  await using cluster = await startTestCluster();
  const group = '/apis/admissionregistration.k8s.io/v1';
  const create = async (resource: string, body: object): Promise<void> =>
    expect((await cluster.fetch(`${group}/${resource}`, { body })).status).toBe(201);
  for (let i = 0; i < policies; i += 1) {
    const metadata = { name: `p${i}` };
    const resourceRules = [{ apiGroups: ['apps'], apiVersions: ['*'], resources: ['deployments'], operations: ['*'] }];
    const spec = { matchConstraints: { resourceRules }, validations: [{ expression: 'object.spec.replicas <= 5' }] };
    await create('validatingadmissionpolicies', { metadata, spec });
    await create('validatingadmissionpolicybindings', { metadata, spec: { policyName: metadata.name, validationActions: ['Deny'] } });
  }
  const added = (least: { without: number; own: number }): number => least.own - least.without;
  const [empty, full] = [plain, cluster].map(({ app }) => app.nest.get(AdmissionChain) as AdmissionChain);
  const measurements = { without: () => costOf(empty!), own: () => costOf(full!) };
  expect(added(await leastCosts(measurements, (least) => added(least) < mostOfPolicies))).toBeLessThan(mostOfPolicies);
}, 60_000);

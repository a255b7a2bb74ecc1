import { expect, it } from 'vitest';
import { admissionEnvironment } from '#apiserver/admission/cel/environment';
import { compileExpression, conditionTypes } from '#apiserver/admission/cel/expression';
import { activationOf } from '#apiserver/cel/environment';
import { fromJson } from '#apiserver/cel/json-values';
import { startTestCluster, type TestCluster } from '#testing/index';
import { costOfCalls, leastCosts } from './least-costs.ts';

const evaluations = 50_000;
const creations = 1_000;
/** Limit in microseconds of a policy's expression. */
const mostOfExpression = 5;
const policies = 200;
/** Limit of the relative cost that policies for other resources add to a create. */
const mostOfPolicies = 0.05;

const object = {
  metadata: { name: 'web', labels: { app: 'web', tier: 'front' } },
  spec: { replicas: 3, containers: [{ image: 'registry.example.com/a:1' }, { image: 'registry.example.com/b:2' }] },
};
const expressions = [
  'object.spec.replicas <= 5',
  'has(object.metadata.labels) && object.metadata.labels.app == "web"',
  'object.metadata.?labels["tier"].orValue("") in ["front", "back"]',
  'object.spec.containers.all(c, c.image.startsWith("registry.example.com/"))',
];

it.each(expressions)(`%s takes less than ${mostOfExpression} µs`, async (text) => {
  const environment = admissionEnvironment({ params: false, authorizer: true }, 'new');
  const { program } = compileExpression(() => environment, text, conditionTypes);
  const once = () => program?.evaluate(activationOf({ object: fromJson(object) })).value;
  expect(once()).toBe(true);
  const { cost } = await leastCosts({ cost: () => costOfCalls(evaluations, once) }, (least) => least.cost < mostOfExpression);
  expect(cost).toBeLessThan(mostOfExpression);
});

it(`${policies} policies for another resource add less than ${mostOfPolicies * 100} % to the creation of an object`, async () => {
  await using plain = await startTestCluster();
  await using cluster = await startTestCluster();
  for (let i = 0; i < policies; i += 1) await addPolicy(cluster, `p-${i}`);
  const measurements = { without: () => costOfCreation(plain), own: () => costOfCreation(cluster) };
  const ratio = (least: { without: number; own: number }): number => least.own / least.without;
  const most = 1 + mostOfPolicies;
  expect(ratio(await leastCosts(measurements, (least) => ratio(least) < most))).toBeLessThan(most);
}, 120_000);

function costOfCreation(cluster: TestCluster): Promise<number> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' }, data: { k: 'v' } };
  return costOfCalls(creations, async () => {
    const response = await cluster.fetch('/api/v1/namespaces/default/configmaps?dryRun=All', { body });
    await response.arrayBuffer();
  });
}

async function addPolicy(cluster: TestCluster, name: string): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name };
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'object.spec.replicas <= 5' }] };
  const binding = { policyName: name, validationActions: ['Deny'] };
  const path = `/apis/${apiVersion}/validatingadmissionpolic`;
  const made = await cluster.fetch(`${path}ies`, { body: { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec } });
  expect(made.status).toBe(201);
  const bound = await cluster.fetch(`${path}ybindings`, {
    body: { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: binding },
  });
  expect(bound.status).toBe(201);
}

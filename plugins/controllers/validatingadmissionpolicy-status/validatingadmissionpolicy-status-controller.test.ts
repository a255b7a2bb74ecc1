import type { ServedResource } from 'kubenest/sdk';
import { startTestCluster } from 'kubenest/testing';
import type { ValidatingAdmissionPolicy } from 'kubenest/types/admissionregistration_v1';
import { expect, it, vi } from 'vitest';
import { matchedKinds } from './matched-kinds.ts';
import { OpenApiSchemas } from './open-api-schemas.ts';

const served = (group: string, version: string, resource: string, kind: string): ServedResource => ({
  group,
  version,
  resource,
  kind,
  namespaced: true,
  verbs: [],
});
const all = [
  served('', 'v1', 'pods', 'Pod'),
  served('', 'v1', 'events', 'Event'),
  served('events.k8s.io', 'v1', 'events', 'Event'),
  served('apps', 'v1', 'deployments', 'Deployment'),
  ...Array.from({ length: 12 }, (_, at) => served('many', 'v1', `r${at}`, `R${at}`)),
];
const rule = (apiGroups: string[], apiVersions: string[], ...resources: string[]): object => ({ apiGroups, apiVersions, resources });
const deployments = rule(['apps'], ['v1'], 'deployments');

it.each([
  { name: 'a named resource', rules: [deployments], kinds: ['apps/v1/Deployment'] },
  { name: 'the rules in the order of kinds', rules: [deployments, rule([''], ['v1'], 'pods')], kinds: ['/v1/Pod', 'apps/v1/Deployment'] },
  {
    name: 'resources of any group for the empty one',
    rules: [rule([''], ['v1'], 'events')],
    kinds: ['/v1/Event', 'events.k8s.io/v1/Event'],
  },
  { name: 'no wildcard for resources', rules: [rule(['apps'], ['v1'], '*', 'deployments/*')], kinds: [] },
  { name: 'no wildcard for versions', rules: [rule(['apps'], ['v1', '*'], 'deployments'), deployments], kinds: ['apps/v1/Deployment'] },
  { name: 'no wildcard for groups', rules: [rule(['*'], ['v1'], 'deployments')], kinds: [] },
  { name: 'nothing that is not served', rules: [rule(['apps'], ['v1', 'v2'], 'deployments', 'pods')], kinds: ['apps/v1/Deployment'] },
  {
    name: 'ten kinds of a rule, and no rule after it',
    rules: [rule(['many'], ['v1'], ...all.map(({ resource }) => resource)), deployments],
    kinds: ['r0', 'r1', 'r10', 'r11', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'].map((resource) => `many/v1/${resource.toUpperCase()}`),
  },
])('matches $name', ({ rules, kinds }) => {
  const matched = matchedKinds({ matchConstraints: { resourceRules: rules } }, all);
  expect(matched.map(({ group, version, kind }) => `${group}/${version}/${kind}`)).toEqual(kinds);
});

it('resolves references, and ends at a schema inside itself', async () => {
  const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
  const kind = { group: 'g', version: 'v1', kind: 'K' };
  const schemas = {
    K: {
      type: 'object',
      properties: { port: { allOf: [ref('IntOrString')], default: {} }, inner: ref('K'), list: { type: 'array', items: ref('Text') } },
      'x-kubernetes-group-version-kind': [kind],
    },
    IntOrString: { format: 'int-or-string', oneOf: [] },
    Text: { type: 'object', additionalProperties: { type: 'string' } },
  };
  const read = async (path: string): Promise<never> => {
    expect(path).toBe('/openapi/v3/apis/g/v1');
    return { components: { schemas } } as never;
  };
  const found = new OpenApiSchemas({ read });
  expect((await found.find(kind))?.properties).toEqual({
    port: { format: 'int-or-string', oneOf: [], 'x-kubernetes-int-or-string': true },
    inner: { type: 'object' },
    list: { type: 'array', items: schemas.Text },
  });
  expect(await found.find({ ...kind, kind: 'Other' })).toBeUndefined();
});

it('writes the warnings and the generation to the status', async () => {
  await using cluster = await startTestCluster({ controllers: ['validatingadmissionpolicy-status-controller'] });
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const create = async (name: string, expression: string): Promise<void> => {
    const spec = { matchConstraints: { resourceRules: [{ ...deployments, operations: ['*'] }] }, validations: [{ expression }] };
    const answer = await cluster.fetch(path, { body: { metadata: { name }, spec } });
    expect(answer.status).toBe(201);
  };
  const get = async (name: string): Promise<ValidatingAdmissionPolicy> =>
    (await (await cluster.fetch(`${path}/${name}`, {})).json()) as ValidatingAdmissionPolicy;
  await create('wrong', "object.spec.replicas > '1' && object.spec.template.spec.containers.all(c, c.nope == 1)");
  await create(
    'right',
    "object.spec.replicas > 1 && object.metadata.labels['a'] == 'b' && object.spec.strategy.rollingUpdate.maxSurge == 1",
  );
  await vi.waitFor(async () => {
    const wrong = await get('wrong');
    expect(wrong.status?.observedGeneration).toBe(1);
    const { fieldRef, warning } = wrong.status?.typeChecking?.expressionWarnings?.[0] ?? {};
    expect(fieldRef).toBe('spec.validations[0].expression');
    expect(warning).toContain(
      "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'",
    );
    expect(warning).toContain("undefined field 'nope'");
    expect(wrong.metadata.managedFields?.map(({ manager, operation, subresource }) => [manager, operation, subresource])).toContainEqual([
      'validatingadmissionpolicy-status',
      'Apply',
      'status',
    ]);
    expect((await get('right')).status).toEqual({ observedGeneration: 1, typeChecking: {} });
  });
});

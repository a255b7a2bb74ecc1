import { IsInt, Max } from 'class-validator';
import { expect, it } from 'vitest';
import { AdmissionPlugin, type Attributes, Configuration, inject, type KubeObject, setDefaults } from 'kubenest/sdk';
import { admissionTable } from './admission-table.ts';
import { assertEqual, assertMatches } from './assert-matches.ts';

class ReplicasConfiguration {
  @IsInt()
  @Max(10)
  replicas = 2;
}

@AdmissionPlugin({
  name: 'Replicas',
  configuration: ReplicasConfiguration,
  match: [{ groups: ['apps'], resources: ['deployments'], operations: ['CREATE'] }],
})
class Replicas {
  constructor(@inject(Configuration) readonly configuration: ReplicasConfiguration) {}

  admit({ object }: Attributes): void {
    setDefaults(object, { spec: { replicas: this.configuration.replicas } });
  }
}

const deployment = (spec: object): KubeObject =>
  ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec }) as KubeObject;

admissionTable(
  Replicas,
  [
    { name: 'wants members at any depth', object: deployment({ template: { spec: { containers: [] } } }), want: { spec: { replicas: 3 } } },
    { name: 'wants the absence of a member', object: deployment({}), want: { spec: { paused: undefined } } },
  ],
  { configuration: { replicas: 3 } },
);

it('fails with each member that is not as wanted', () => {
  const want = { spec: { replicas: 2, paused: true } };
  expect(() => assertMatches(want, deployment({ replicas: 3 }))).toThrow(
    'the object does not match:\n  spec.replicas: expected 2, got 3\n  spec.paused: expected true, got nothing',
  );
});

it('fails with what differs if warnings are not as expected', () => {
  expect(() => assertEqual('warnings', ['frozen'], [])).toThrow('warnings: expected [], got ["frozen"]');
});

it.each([
  { name: 'a wrong value', configuration: { replicas: 11 }, says: 'Replicas.replicas: replicas must not be greater than 10' },
  { name: 'an unknown member', configuration: { replica: 1 }, says: 'Replicas.replica is unknown' },
])('rejects $name in the configuration, as the server does', ({ configuration, says }) => {
  expect(() => admissionTable(Replicas, [], { configuration })).toThrow(says);
});

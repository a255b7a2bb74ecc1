import { IsInt } from 'class-validator';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { Deployment, Namespace, Node, Pod } from '../../kubernetes/kinds.gen.ts';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { Informers } from '#apiserver/registry/informers';
import { newPlugin } from '#apiserver/plugins/new-plugin';
import { newServiceContainer } from '#apiserver/plugins/plugin-services';
import { deny, setDefaults } from '../admission-helpers.ts';
import { admissionTable } from '../testing/admission-table.ts';
import { fakeInformers } from '../testing/fake-informers.ts';
import { fakeServices } from '../testing/fake-services.ts';
import { policy } from './policy.ts';
import { when } from './when.ts';

const pod = (metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'prod-eu', labels: { team: 'a' }, ...metadata },
  spec: { containers: [{ name: 'web', image: 'nginx' }] },
});
const deployment = (spec: object): KubeObject => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec });

const denied = /^pods "web" is forbidden: no$/;
const denyAll = policy(
  'DenyAll',
  when(Pod)
    .created()
    .updated()
    .inNamespace(/^prod-/, 'shop')
    .withLabel('team')
    .withLabel('tier', 'web')
    .withoutLabel('legacy')
    .withAnnotation('note', /^x/)
    .where(({ spec }) => spec?.containers?.length === 1)
    .validate((_, request) => deny(request, 'no')),
);
const selected = { labels: { team: 'a', tier: 'web' }, annotations: { note: 'xy' } };

admissionTable(denyAll, [
  { name: 'selects an object that meets all conditions', object: pod(selected), denied },
  { name: 'selects an update', object: pod(selected), oldObject: pod(), denied },
  { name: 'selects a namespace by its name', object: pod({ ...selected, namespace: 'shop' }), denied },
  { name: 'does not select another operation', oldObject: pod(selected), operation: 'DELETE' },
  { name: 'does not select a subresource', object: pod(selected), subresource: 'status' },
  { name: 'does not select another namespace', object: pod({ ...selected, namespace: 'shopping' }) },
  { name: 'does not select an absent label', object: pod({ ...selected, labels: { tier: 'web' } }) },
  { name: 'does not select another value of a label', object: pod({ ...selected, labels: { team: 'a', tier: 'db' } }) },
  { name: 'does not select an excluded label', object: pod({ ...selected, labels: { team: 'a', tier: 'web', legacy: '' } }) },
  { name: 'does not select another value of an annotation', object: pod({ ...selected, annotations: { note: 'y' } }) },
  { name: 'does not select what `where` rejects', object: { ...pod(selected), spec: { containers: [] } } },
]);

const both = policy(
  'Replicas',
  when(Deployment)
    .created()
    .mutate((object) => setDefaults(object, { spec: { replicas: 2 } })),
  when(Deployment)
    .created()
    .mutate(async ({ metadata, spec }) => {
      await Promise.resolve();
      metadata.annotations = { replicas: `${spec?.replicas}` };
    }),
  when(Deployment)
    .created()
    .updated()
    .validate(({ spec }, request) => {
      if (spec.replicas === 0) deny(request, 'none');
    }),
);

admissionTable(both, [
  {
    name: 'runs rules in their order',
    object: deployment({}),
    want: { spec: { replicas: 2 }, metadata: { annotations: { replicas: '2' } } },
  },
  { name: 'runs the rules of both phases', object: deployment({ replicas: 0 }), denied: /none/ },
  { name: 'runs only the rules of the operation', object: deployment({ replicas: 0 }), oldObject: deployment({}), denied: /none/ },
]);

const undeletable = policy(
  'Undeletable',
  when(Pod, Namespace)
    .deleted()
    .validate(({ metadata }, request) => {
      if (metadata.labels?.['keep'] === 'true') deny(request, `${metadata.name} is kept`);
    }),
);

admissionTable(undeletable, [
  {
    name: 'gets the stored object of a deletion',
    oldObject: pod({ labels: { keep: 'true' } }),
    operation: 'DELETE',
    denied: /web is kept/,
  },
  {
    name: 'handles several kinds',
    oldObject: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { keep: 'true' } } },
    operation: 'DELETE',
    denied: /shop is kept/,
  },
]);

class Limit {
  @IsInt()
  most = 1;
}
const limited = policy(
  { name: 'Limited', configuration: Limit, services: ['informers', 'logger'], before: ['Other'] },
  when(Pod)
    .created()
    .validate((_, request, { configuration, informers }) => {
      const count = informers.for(Node).list().length;
      if (count > configuration.most) deny(request, `${count} nodes`);
    }),
  when(Pod)
    .subresource('eviction')
    .created()
    .validate((eviction, request) => {
      if (eviction.deleteOptions?.gracePeriodSeconds === 0) deny(request, 'too fast');
    }),
);
const node = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' }, deleteOptions: { gracePeriodSeconds: 0 } };

admissionTable(
  limited,
  [
    { name: 'gets configuration and services', object: pod(), denied: /3 nodes/ },
    {
      name: 'selects a subresource',
      object: eviction,
      resource: { group: '', resource: 'pods' },
      subresource: 'eviction',
      denied: /too fast/,
    },
  ],
  { configuration: { most: 2 }, informers: fakeInformers({ nodes: ['a', 'b', 'c'].map(node) }) },
);

const noShells = policy(
  'NoShells',
  when(Pod)
    .subresource('exec')
    .connected()
    .validate(({ command }, request) => {
      if (command === 'sh') deny(request, 'no shells');
    }),
);
admissionTable(noShells, [
  {
    name: 'denies a connection',
    object: { apiVersion: 'v1', kind: 'PodExecOptions', command: 'sh' },
    resource: { group: '', resource: 'pods' },
    subresource: 'exec',
    operation: 'CONNECT',
    denied: /is forbidden: no shells/,
  },
]);

describe('policy', () => {
  it('has the match of its rules, so that the server calls it for no other request', () => {
    expect(admissionPluginOptions(limited)).toEqual({
      name: 'Limited',
      configuration: Limit,
      before: ['Other'],
      match: [
        { groups: [''], resources: ['pods'], operations: ['CREATE'] },
        { groups: [''], resources: ['pods'], subresources: ['eviction'], operations: ['CREATE'] },
      ],
      matchByPhase: expect.objectContaining({ admit: [] }) as unknown,
    });
  });

  it('is called in a phase only for what the rules of the phase select', () => {
    const mutates = when(Pod)
      .created()
      .mutate(() => {});
    const validates = when(Pod)
      .deleted()
      .validate(() => {});
    const plugin = new (policy('Both', mutates, validates))();
    const { mutating, validating } = new AdmissionChain([plugin]).for('', 'pods', '', 'CREATE');
    expect([mutating.steps.length, validating.steps.length]).toEqual([1, 0]);
  });

  it('gets the informers of the resources that it follows when it is created', () => {
    const rule = when(Pod)
      .created()
      .validate(() => {});
    const asked: string[] = [];
    const informers: Informers = {
      for: (resource) => {
        asked.push(resource.resource);
        return fakeInformers().for(resource);
      },
    };
    const follows = policy({ name: 'Follows', services: ['clock', 'informers'], follows: [Node, Deployment] }, rule);
    newPlugin(newServiceContainer(fakeServices({ informers })), 'Follows', follows);
    expect(asked).toEqual(['nodes', 'deployments']);
    expect(() => policy({ name: 'Follows', follows: [Node] }, rule)).toThrow(
      "policy Follows: `follows` requires `services: ['informers']`",
    );
  });

  it('has only the phases of its rules', () => {
    expect('admit' in denyAll.prototype).toBe(false);
    expect('admit' in both.prototype && 'validate' in both.prototype).toBe(true);
  });
});

import type { Attributes, Client, Clock, KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeClient, fakeInformers, fakeServices } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { object } from './test-objects.ts';
import { NamespaceLifecycle } from './namespace-lifecycle.ts';

const namespaces = fakeInformers({
  namespaces: [
    object('v1', 'Namespace', { status: { phase: 'Active' } }, { name: 'ns' }),
    object('v1', 'Namespace', { status: { phase: 'Terminating' } }, { name: 'going' }),
  ],
});
const configMap = (namespace: string): KubeObject => object('v1', 'ConfigMap', {}, { namespace });
/** A store with objects that the informers have not received. */
const live = (...objects: KubeObject[]): Client =>
  fakeClient({
    get: async (_, namespace, name) => objects.find(({ metadata }) => (metadata.namespace ?? '') === namespace && metadata.name === name),
  });
const newNamespaces = live(
  object('v1', 'Namespace', { status: { phase: 'Active' } }, { name: 'new' }),
  object('v1', 'Namespace', { status: { phase: 'Terminating' } }, { name: 'just-deleted' }),
);
let seconds = 0;
const clock: Clock = { ...fakeServices().clock, now: () => seconds * 1_000 };
const lagging = new NamespaceLifecycle(
  fakeInformers({ namespaces: [object('v1', 'Namespace', { status: { phase: 'Active' } }, { name: 'just-deleted' })] }),
  newNamespaces,
  clock,
);
admissionTable(lagging, [
  { name: 'an object in a namespace that the informer has not received', object: configMap('new') },
  {
    name: 'the deletion of a namespace',
    oldObject: object('v1', 'Namespace', {}, { name: 'just-deleted' }),
    operation: 'DELETE',
  },
  {
    name: 'an object in a namespace whose deletion the informer has not received',
    object: configMap('just-deleted'),
    denied: /because it is being terminated/,
  },
]);
it('reads a deleted namespace from the store for 30 seconds', async () => {
  const admitted = async (): Promise<boolean> => {
    const created = { operation: 'CREATE', resource: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'just-deleted' };
    try {
      await lagging.admit(created as Attributes);
      return true;
    } catch {
      return false;
    }
  };
  seconds = 29;
  expect(await admitted()).toBe(false);
  seconds = 31;
  expect(await admitted()).toBe(true);
});
admissionTable(new NamespaceLifecycle(namespaces, newNamespaces, clock), [
  { name: 'an object in an existing namespace', object: configMap('ns') },
  { name: 'an object in a missing namespace', object: configMap('none'), denied: /namespaces "none" not found/ },
  {
    name: 'an object in a terminating namespace',
    object: configMap('going'),
    denied: /unable to create new content in namespace going because it is being terminated/,
  },
  { name: 'an update in a terminating namespace', object: configMap('going'), oldObject: configMap('going') },
  {
    name: 'an update in a missing namespace',
    object: configMap('none'),
    oldObject: configMap('none'),
    denied: /namespaces "none" not found/,
  },
  { name: 'the deletion of a namespace', oldObject: object('v1', 'Namespace', {}, { name: 'ns' }), operation: 'DELETE' },
  {
    name: 'the deletion of a system namespace',
    oldObject: object('v1', 'Namespace', {}, { name: 'kube-system' }),
    operation: 'DELETE',
    denied: /this namespace may not be deleted/,
  },
]);

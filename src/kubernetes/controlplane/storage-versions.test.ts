import { describe, expect, it } from 'vitest';
import type { StorageVersion } from '#kubernetes/schema/apiserverinternal_v1alpha1.gen';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import { type StoredResource, StorageVersions, withServer } from './storage-versions.ts';

const long = '2020-01-01T00:00:00Z';
const server = (apiServerID: string, encodingVersion: string) => ({
  apiServerID,
  encodingVersion,
  decodableVersions: ['apps/v1', 'apps/v2'],
  servedVersions: ['apps/v1'],
});
const condition = (status: 'True' | 'False', lastTransitionTime: string | RegExp) => ({
  type: 'AllEncodingVersionsEqual',
  status,
  lastTransitionTime: lastTransitionTime instanceof RegExp ? expect.stringMatching(lastTransitionTime) : lastTransitionTime,
  reason: status === 'True' ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
  message: status === 'True' ? 'Common encoding version set' : 'Common encoding version unset',
});
const recent = /^20(2[1-9]|[3-9])/;

describe('withServer', () => {
  it.each([
    {
      name: 'of the first server',
      status: {},
      want: { storageVersions: [server('a', 'apps/v1')], commonEncodingVersion: 'apps/v1', conditions: [condition('True', recent)] },
    },
    {
      name: 'of a server with an unchanged entry',
      status: { storageVersions: [server('a', 'apps/v1')], commonEncodingVersion: 'apps/v1', conditions: [condition('True', long)] },
      want: { storageVersions: [server('a', 'apps/v1')], commonEncodingVersion: 'apps/v1', conditions: [condition('True', long)] },
    },
    {
      name: 'of a server that encodes another version than the others',
      status: { storageVersions: [server('b', 'apps/v2')], commonEncodingVersion: 'apps/v2', conditions: [condition('True', long)] },
      want: { storageVersions: [server('b', 'apps/v2'), server('a', 'apps/v1')], conditions: [condition('False', recent)] },
    },
    {
      name: 'of a server that changes the common version',
      status: { storageVersions: [server('a', 'apps/v2')], commonEncodingVersion: 'apps/v2', conditions: [condition('True', long)] },
      want: { storageVersions: [server('a', 'apps/v1')], commonEncodingVersion: 'apps/v1', conditions: [condition('True', recent)] },
    },
  ])('sets the status $name', ({ status, want }) => {
    const object = { apiVersion: 'v1', kind: 'StorageVersion', metadata: { name: 'a' }, status } as StorageVersion;
    expect(withServer(object, server('a', 'apps/v1'))['status']).toEqual(want);
  });
});

describe('StorageVersions', () => {
  const pods = { group: '', resource: 'pods' };
  const events = { group: '', resource: 'events' };
  const otherEvents = { group: 'events.k8s.io', resource: 'events' };
  const stored = (of: typeof pods, equivalents = [of]): StoredResource => ({
    ...of,
    encodingVersion: 'v1',
    decodableVersions: ['v1'],
    servedVersions: ['v1'],
    equivalents,
  });

  it('blocks all names of a resource until its version is written, and a failure blocks only its own resource', async () => {
    let failing = true;
    const client = {
      ensure: async () => {},
      update: async (_: unknown, __: string, name: string, change: (object: StorageVersion) => unknown) => {
        if (failing && name === 'core.pods') throw new Error('no disk');
        return change({ apiVersion: 'v1', kind: 'StorageVersion', metadata: { name } });
      },
    } as unknown as LoopbackClient;
    const versions = new StorageVersions(client, 'a', [stored(pods), stored(events, [events, otherEvents])]);
    const pending = () => [pods, events, otherEvents, { group: '', resource: 'bindings' }].map((one) => versions.isPending(one));
    expect([pending(), versions.lastError(pods), versions.completed]).toEqual([[true, true, true, false], undefined, false]);
    await expect(versions.update()).rejects.toThrow('no disk');
    expect([pending(), versions.lastError(pods), versions.completed]).toEqual([[true, false, false, false], 'no disk', false]);
    failing = false;
    await versions.update();
    expect([pending(), versions.completed]).toEqual([[false, false, false, false], true]);
  });
});

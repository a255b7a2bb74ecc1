import type { Container, Pod, Volume } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { UnsupportedScriptError } from '../shell/script.ts';
import { containerSources, type ReadSource } from './container-sources.ts';

const mebibyte = 1_048_576;
const pod = (volumes: readonly Partial<Volume>[] = [], annotations: Record<string, string> = {}): Pod =>
  ({
    metadata: { name: 'a', namespace: 'team', annotations },
    spec: { volumes: volumes.map((one, i) => ({ name: `v${i}`, ...one })) },
  }) as Pod;
const container = (more: Partial<Container>): Container => ({ name: 'c', ...more });
const mounts = { volumeMounts: [{ name: 'v0', mountPath: '/v' }] };

/** Reads objects of one long text, and records what was read. */
function reader(length: number): { readonly read: ReadSource; readonly names: string[] } {
  const names: string[] = [];
  const read: ReadSource = async (resource, namespace, name) => {
    names.push(`${resource} ${namespace}/${name}`);
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { key: 'x'.repeat(length) } };
  };
  return { read, names };
}

describe('the sources of a container', () => {
  it.each(['other/secret', '../other/secret', 'secret'])('are read in the namespace of the pod: %s', async (name) => {
    const { read, names } = reader(1);
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'key' } } }];
    await containerSources(pod([{ secret: { secretName: name } }]), container({ env, ...mounts }), read);
    expect(names).toEqual([`secrets team/${name}`, `secrets team/${name}`]);
  });

  const repeated = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
  it.each<{ name: string; of: Pod; container: Container; length: number }>([
    {
      name: 'variables of many large objects',
      of: pod(),
      container: container({ envFrom: repeated(10_000, { configMapRef: { name: 'm' } }) }),
      length: mebibyte,
    },
    {
      name: 'a volume of one large object many times',
      of: pod([{ projected: { sources: repeated(10_000, { configMap: { name: 'm' } }) } }]),
      container: container(mounts),
      length: mebibyte,
    },
    {
      name: 'very many small objects',
      of: pod(),
      container: container({ envFrom: repeated(100_000, { secretRef: { name: 's' } }) }),
      length: 1,
    },
    {
      name: 'all annotations in many files',
      of: pod([{ downwardAPI: { items: repeated(100_000, { path: 'x', fieldRef: { fieldPath: 'metadata.annotations' } }) } }], {
        a: 'x'.repeat(200_000),
      }),
      container: container(mounts),
      length: 1,
    },
  ])('are refused before they fill the memory: $name', async ({ of, container: one, length }) => {
    const { read, names } = reader(length);
    await expect(containerSources(of, one, read)).rejects.toThrow(UnsupportedScriptError);
    expect(names.length).toBeLessThan(2_100);
  });
});

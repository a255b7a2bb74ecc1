import type { Pod } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';
import { environmentOf, podField } from './environment.ts';
import type { FileStore } from './file-store.ts';

const metadata = { name: 'web', annotations: { text: '\n'.repeat(250_000) } };
const mounted = { texts: {}, volumes: new Set<string>(), unknown: [] };
const store: Partial<FileStore> = { services: () => ({}), sources: () => ({ env: {}, mounted }) };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };

it('does not read the annotations for each of many other fields', () => {
  const env = Array.from({ length: 5_000 }, (_, i) => ({ name: `V${i}`, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }));
  const began = threadMilliseconds();
  expect(environmentOf(pod, { name: 'c', env }, store as FileStore)).toMatchObject({ V0: 'web', V4999: 'web' });
  // Quoting the annotations takes some milliseconds each time.
  expect(threadMilliseconds() - began).toBeLessThan(1_000);
});

it.each([
  ['metadata.name', 'web'],
  ["metadata.annotations['absent']", ''],
  ['constructor', undefined],
])('%s is %j', (fieldPath, want) => {
  expect(podField(pod, { fieldPath })).toBe(want);
});

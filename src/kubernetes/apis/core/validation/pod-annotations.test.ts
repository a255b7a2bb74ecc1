import { expect, it } from 'vitest';
import { fieldPath } from '#apimachinery/validation/field';
import type { Pod } from '#kubernetes/schema/core_v1.gen';
import { applyAppArmorAnnotations } from '../app-armor.ts';
import { validateProfilesMatchAnnotations } from './pod-annotations.ts';
import { podWarnings } from './pod-warnings.ts';

const count = 1_000;
let reads = 0;
/** Annotations that count how often one of them is read: of wide objects, reading a key that they do not have is slow. */
const annotations = new Proxy(Object.fromEntries(Array.from({ length: count }, (_, i) => [`example.com/${i}`, 'true'])), {
  get(target, key, receiver) {
    reads += 1;
    return Reflect.get(target, key, receiver) as unknown;
  },
});
const containers = Array.from({ length: 20 * count }, (_, i) => ({ name: `c${i}`, image: 'x' }));
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', annotations }, spec: { containers } };

it.each<[string, () => unknown]>([
  ['validation', () => validateProfilesMatchAnnotations([], pod.metadata, pod.spec ?? {}, fieldPath('spec'))],
  ['the copy to the fields', () => applyAppArmorAnnotations(pod, {} as never)],
  ['warnings', () => podWarnings(pod)],
])('%s of profiles reads the annotations once, and not once for each container', (_, work) => {
  reads = 0;
  work();
  expect(reads).toBeLessThanOrEqual(2 * count);
});

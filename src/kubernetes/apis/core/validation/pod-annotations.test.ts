import { expect, it } from 'vitest';
import type { FieldError } from '#apimachinery/validation/field';
import { fieldPath } from '#apimachinery/validation/field';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';
import type { Pod } from '#kubernetes/schema/core_v1.gen';
import { applyAppArmorAnnotations } from '../app-armor.ts';
import { validateProfilesMatchAnnotations } from './pod-annotations.ts';
import { podWarnings } from './pod-warnings.ts';

/** A pod as the parser makes it, whose keys are not those of the code. */
const pod = JSON.parse(
  JSON.stringify({
    metadata: {
      name: 'a',
      annotations: Object.fromEntries(Array.from({ length: 6_500 }, (_, i) => [`example.com/annotation-${i}`, 'true'])),
    },
    spec: { containers: Array.from({ length: 40_000 }, (_, i) => ({ name: `c${i}`, image: 'x' })) },
  }),
) as Pod;

it.each<[string, () => void]>([
  ['validates the profiles', () => validateProfilesMatchAnnotations([] as FieldError[], pod.metadata, pod.spec ?? {}, fieldPath('spec'))],
  ['copies the profiles', () => applyAppArmorAnnotations(pod, {} as never)],
  ['warns about the profiles', () => void podWarnings(pod)],
])('%s of many containers with many annotations without looking for a key for each', (_, work) => {
  const times = Array.from({ length: 3 }, () => {
    const began = threadMilliseconds();
    work();
    return threadMilliseconds() - began;
  });
  expect(Math.min(...times)).toBeLessThan(50);
});

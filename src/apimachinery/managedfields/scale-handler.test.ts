import { expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '#apimachinery/meta/types';
import { ScaleHandler } from './scale-handler.ts';

const replicas = { 'f:spec': { 'f:replicas': {} } };
const entry = (manager: string, operation: 'Apply' | 'Update', apiVersion = 'apps/v1'): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion,
  fieldsType: 'FieldsV1',
  fieldsV1: replicas,
});

it('translates very many managers, as a client may store them, in linear time', () => {
  const entries = Array.from({ length: 20_000 }, (_, i) => entry(`m${i}`, i % 2 === 0 ? 'Apply' : 'Update'));
  const handler = new ScaleHandler(entries, 'apps/v1', new Map([['apps/v1', ['f:spec', 'f:replicas']]]));
  const began = process.threadCpuUsage();
  const inScale = handler.toSubresource() ?? [];
  const after = handler.toParent([...inScale, entry('new', 'Update', 'autoscaling/v1')]);
  const { user } = process.threadCpuUsage(began);
  expect(after).toHaveLength(20_001);
  expect(after).toContainEqual(entry('new', 'Update'));
  // The quadratic form took several seconds.
  expect(user / 1_000).toBeLessThan(1_500);
});

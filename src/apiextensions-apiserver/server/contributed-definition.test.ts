import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { contributedConverter } from './contributed-definition.ts';

it('a slow conversion of many objects leaves turns for other work', async () => {
  const objects: KubeObject[] = Array.from({ length: 100 }, (_, i) => ({
    apiVersion: 'a.example.com/v1',
    kind: 'Item',
    metadata: { name: `item-${i}` },
  }));
  let converted = 0;
  const converter = contributedConverter({
    kind: 'Item',
    resource: 'items',
    versions: [],
    convert(object) {
      const end = performance.now() + 1;
      while (performance.now() < end);
      converted += 1;
      return { ...object, kind: 'Other', metadata: { name: 'other' }, size: 1 };
    },
  });
  const result = converter!.convert(objects, 'a.example.com/v2');
  await nextTurn();
  expect(converted).toBeLessThan(objects.length / 2);
  expect(await result).toEqual(objects.map((object) => ({ ...object, apiVersion: 'a.example.com/v2', size: 1 })));
});

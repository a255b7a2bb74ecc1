import type { PodTemplateSpec } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import recorded from './pod-template-hash.fixtures.json' with { type: 'json' };
import { podTemplateHash, safeEncode } from './pod-template-hash.ts';

it.each(recorded.map(({ template, ...hashes }, index) => ({ index, template: template as PodTemplateSpec, ...hashes })))(
  'hashes template $index like ComputeHash of upstream, which recorded the values',
  ({ template, hash, hashAfterCollision }) => {
    expect([podTemplateHash(template), podTemplateHash(template, 1)]).toEqual([hash, hashAfterCollision]);
  },
);

it('treats empty maps and lists like absent ones', () => {
  const plain: PodTemplateSpec = { spec: { containers: [{ name: 'a' }] } };
  const empty: PodTemplateSpec = { metadata: { labels: {} }, spec: { containers: [{ name: 'a', env: [] }], nodeSelector: {} } };
  expect(podTemplateHash(empty)).toBe(podTemplateHash(plain));
});

it('encodes digits without vowels', () => {
  expect(safeEncode('0123456789')).toBe('456789bcdf');
});

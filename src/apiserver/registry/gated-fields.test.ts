import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { dropGatedFields, type GatedFields } from './gated-fields.ts';

const table: readonly GatedFields[] = [
  { gates: ['A', 'B'], fields: ['spec.plain', 'spec.list[].field', 'spec.map{}.deep.field'] },
  { gates: ['C'], alpha: true, fields: ['spec.alpha'] },
];
const whole = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: {},
  spec: { plain: 1, list: [{ field: [1], other: 2 }, {}], map: { x: { deep: { field: 'a' } }, y: {} }, alpha: true, other: 3 },
});
const without = { list: [{ other: 2 }, {}], map: { x: { deep: {} }, y: {} }, other: 3 };

function dropped(enabled: readonly string[] | undefined, old?: object): unknown {
  const object = whole();
  const before = old && { ...whole(), spec: old };
  dropGatedFields(object, before, table, enabled ? { isEnabled: (gate) => enabled.includes(gate) } : {});
  return object['spec'];
}

describe('fields of a feature', () => {
  it('are dropped unless all of its gates are enabled', () => {
    expect(dropped([])).toEqual(without);
    expect(dropped(['A'])).toEqual(without);
    expect(dropped(['A', 'B', 'C'])).toEqual(whole()['spec']);
    expect(dropped(['C'])).toEqual({ ...without, alpha: true });
  });

  it('are handled as by default where the gates are unknown', () => {
    const { alpha: _, ...rest } = whole()['spec'] as Record<string, unknown>;
    expect(dropped(undefined)).toEqual(rest);
  });

  it.each([[{ plain: 0 }], [{ list: [{}, { field: [1] }] }], [{ map: { z: { deep: { field: 'b' } } } }]])(
    'stay if the stored object has %j',
    (old) => {
      expect(dropped([], old)).toMatchObject({ plain: 1, list: [{ field: [1] }, {}], map: { x: { deep: { field: 'a' } } } });
    },
  );

  it.each([[{ other: 1 }], [{ list: [{ field: [] }] }], [{ map: { z: {} } }], [{ alpha: true }]])(
    'are dropped if the stored object has %j',
    (old) => {
      expect(dropped(['C'], old)).toEqual({ ...without, alpha: true });
    },
  );
});

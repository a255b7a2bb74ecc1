import { describe, expect, it } from 'vitest';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import { admissionPlugins } from './builtin-plugins.ts';
import { readTable } from './options/tables.ts';

const upstream = readTable<{ order: string[]; onByDefault: string[]; removedUpstream: string[] }>('admission');
const removed = new Set(upstream.removedUpstream);
const names = [...admissionPlugins.keys()];

describe('the list of built-in admission plugins', () => {
  it("is in upstream's order", () => {
    const ours = names.filter((name) => !removed.has(name));
    expect(ours).toEqual(upstream.order.filter((name) => admissionPlugins.has(name)));
  });

  it('contains every plugin of upstream, including removed ones', () => {
    const all = [...upstream.order, ...upstream.removedUpstream];
    expect(names.toSorted()).toEqual([...all].sort());
  });

  it.each(names)('%s is the name that the class declares', (name) => {
    expect(admissionPluginOptions(admissionPlugins.get(name)!).name).toBe(name);
  });
});

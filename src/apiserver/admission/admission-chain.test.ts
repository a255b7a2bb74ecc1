import { describe, expect, it } from 'vitest';
import { AdmissionChain } from './admission-chain.ts';
import { AdmissionPlugin } from './admission-plugin.ts';
import type { AdmissionMatch, Attributes } from './attributes.ts';

function plugin(name: string, match: AdmissionMatch, phases: { admit?(): void; validate?(): void }) {
  class Plugin {
    declare admit?: (request: Attributes) => void;
    declare validate?: (request: Attributes) => void;
    constructor() {
      Object.assign(this, phases);
    }
  }
  AdmissionPlugin({ name, match: [match] })(Plugin);
  return new Plugin();
}

const everything: AdmissionMatch = {
  groups: ['*'],
  resources: ['*'],
  subresources: ['*'],
  operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
};

describe('AdmissionChain', () => {
  it.each([
    { name: 'the resource itself', match: { resources: ['pods'], operations: ['CREATE'] }, asked: ['', 'pods', '', 'CREATE'], want: 1 },
    {
      name: 'no subresources of a matched resource',
      match: { resources: ['pods'], operations: ['UPDATE'] },
      asked: ['', 'pods', 'status', 'UPDATE'],
      want: 0,
    },
    {
      name: 'a subresource',
      match: { resources: ['pods'], subresources: ['exec'], operations: ['CONNECT'] },
      asked: ['', 'pods', 'exec', 'CONNECT'],
      want: 1,
    },
    { name: 'another operation', match: { resources: ['pods'], operations: ['CREATE'] }, asked: ['', 'pods', '', 'DELETE'], want: 0 },
    {
      name: 'another group',
      match: { groups: ['apps'], resources: ['deployments'], operations: ['CREATE'] },
      asked: ['extensions', 'deployments', '', 'CREATE'],
      want: 0,
    },
    { name: 'everything', match: everything, asked: ['apps', 'deployments', 'scale', 'UPDATE'], want: 1 },
  ] as const)('calls matching plugins: $name', ({ match, asked: [group, resource, subresource, operation], want }) => {
    const chain = new AdmissionChain([plugin('One', match as AdmissionMatch, { admit() {} })]);
    expect(chain.for(group, resource, subresource, operation).mutating.steps).toHaveLength(want);
  });

  it('rejects a plugin without a phase and names it', () => {
    expect(() => new AdmissionChain([plugin('Empty', everything, {})])).toThrow(/Empty has neither admit nor validate/);
  });
});

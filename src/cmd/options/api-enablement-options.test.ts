import { expect, it } from 'vitest';
import { ApiEnablementOptions } from './api-enablement-options.ts';

const version = (name: string) => ({ name, schema: {} });
const contributed = [
  { group: 'shop.example.com', resources: [{ kind: 'Widget', resource: 'widgets', versions: [version('v1'), version('v2')] }] },
];

it.each<[string, string[]]>([
  ['shop.example.com/v1', []],
  ['shop.example.com/v2/widgets', []],
  ['shop.example.com/v3', ['group version shop.example.com/v3 that has not been registered']],
  ['other.example.com/v1', ['unknown api groups other.example.com/v1']],
  ['apps/v1', []],
])('%s', (key, problems) => {
  const options = new ApiEnablementOptions();
  options.runtimeConfig = new Map([[key, 'false']]);
  expect(options.errors(contributed)).toEqual(problems);
});

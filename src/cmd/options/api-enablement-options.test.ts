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
  ['v1', []],
  ['api/v1', []],
  ['api/v1/pods', []],
  ['/v1', []],
  ['api/legacy', []],
  ['api/v2', ['unknown api groups api/v2']],
  ['v2', ['runtime-config invalid key v2']],
])('%s', (key, problems) => {
  const options = new ApiEnablementOptions();
  options.runtimeConfig = new Map([[key, 'false']]);
  expect(options.errors(contributed)).toEqual(problems);
});

it.each([
  ['api/v1', '', true],
  ['api/v1', 'true', true],
  ['v1', 'false', false],
  ['api/v1', 'false', false],
  ['api/v1/pods', 'false', false],
  ['/v1', '0', false],
  ['api/legacy', 'false', true],
  ['api/all', 'false', false],
])('%s=%s: core group enabled: %s', (key, value, want) => {
  const options = new ApiEnablementOptions();
  options.runtimeConfig = new Map([[key, value]]);
  expect(options.isEnabled({ group: '', version: 'v1', resource: 'secrets' })).toBe(want);
});

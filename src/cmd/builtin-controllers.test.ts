import { expect, it } from 'vitest';
import { controllerNames, isSelected, selectedControllers } from './builtin-controllers.ts';

it.each([
  { selection: ['*'], name: 'job-controller', is: true },
  { selection: ['*'], name: 'bootstrap-signer-controller', is: false },
  { selection: ['*', 'bootstrapsigner', 'tokencleaner'], name: 'bootstrap-signer-controller', is: true },
  { selection: ['*', '-job-controller'], name: 'job-controller', is: false },
  { selection: ['*', '-job'], name: 'job-controller', is: false },
  { selection: ['-job-controller', 'job'], name: 'job-controller', is: false },
  { selection: ['namespace'], name: 'namespace-controller', is: true },
  { selection: ['namespace'], name: 'job-controller', is: false },
  { selection: ['-*'], name: 'job-controller', is: false },
])('$selection: $name: $is', ({ selection, name, is }) => {
  expect(isSelected(selection, name)).toBe(is);
});

it('refuses a name that no controller has or had', () => {
  expect(() => selectedControllers(['*', 'jobs'])).toThrow('unknown controller "jobs"');
  expect(() => selectedControllers(['constructor'])).toThrow('unknown controller "constructor"');
});

it('loads every controller under the name that the table has', { timeout: 60_000 }, async () => {
  const loaded = await selectedControllers(controllerNames)?.();
  expect(loaded?.map(({ described }) => (described.options as { readonly name: string }).name)).toEqual(controllerNames);
});

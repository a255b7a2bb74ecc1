import { expect, it } from 'vitest';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { imageConfiguration } from './image-configuration.ts';

const contribution = (entry: number, name: string): LoadedContribution => ({ entry, origin: { package: name } }) as LoadedContribution;
const contributions = [contribution(0, '@acme/rules'), contribution(0, '@acme/rules'), contribution(1, '@kubenest/images')];
const rest = '    # by ticket\n    configuration: { Team: { labels: [ team ] } }\n  - package: kubenest/catalog/images\n';

it.each([
  { name: 'a folder', text: `plugins:\n  - package: ./\n${rest}`, want: `plugins:\n  - package: "@acme/rules"\n${rest}` },
  { name: 'a path', text: `plugins:\n  - package: /srv/rules\n${rest}`, want: `plugins:\n  - package: "@acme/rules"\n${rest}` },
  { name: 'an archive', text: '{"plugins":[{"package":"../rules.tgz"}]}', want: '{ "plugins": [ { "package": "@acme/rules" } ] }\n' },
  { name: 'a name', text: 'plugins: [{package: "@acme/rules"}]', want: 'plugins: [{package: "@acme/rules"}]' },
  { name: 'no packages', text: 'logging:  {v: 2}', want: 'logging:  {v: 2}' },
])('names the package of $name', ({ text, want }) => {
  expect(imageConfiguration(text, contributions)).toBe(want);
});

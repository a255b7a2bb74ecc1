import { Container } from 'inversify';
import { expect, it } from 'vitest';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { serviceTokens } from '#apiserver/plugins/plugin-services';
import { ConfigurationError } from '#apiserver/plugins/read-configuration';
import { UnavailableError } from '#apiserver/storage/errors';
import { admissionPlugins } from '#cmd/builtin-plugins';
import { problemsOf } from './problems.ts';

it('reports problems of a configuration without a stack', () => {
  expect(problemsOf(new ConfigurationError(['a is unknown', 'b: must be positive']))).toEqual(['a is unknown', 'b: must be positive']);
  expect(problemsOf(new UnavailableError('storage: connection refused'))).toEqual(['storage: connection refused']);
  expect(problemsOf(new TypeError('ours'))[0]).toMatch(/TypeError: ours\n +at /);
});

it.each([
  ['EventRateLimit', 'plugin EventRateLimit: limits must not be empty'],
  ['ImagePolicyWebhook', 'plugin ImagePolicyWebhook: no config specified'],
])('reports that %s requires a configuration', (name, problem) => {
  const services = new Container();
  for (const token of Object.values(serviceTokens)) services.bind(token).toConstantValue({});
  const start = (): unknown => contributionOf(admissionPlugins.get(name)!, undefined).make(services);
  expect(start).toThrow(ConfigurationError);
  expect(start).toThrow(problem);
});

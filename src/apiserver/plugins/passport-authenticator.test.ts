import { execFileSync } from 'node:child_process';
import { Buffer } from 'node:buffer';
import { IsString } from 'class-validator';
import passportCustom from 'passport-custom';
import { BasicStrategy } from 'passport-http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';
import { passportAuthenticator } from './passport-authenticator.ts';

class Door {
  @IsString()
  password = 'open sesame';
}

const basic = passportAuthenticator<Door>({
  name: 'Door',
  configuration: Door,
  scheme: 'Basic',
  strategy: (door) =>
    new BasicStrategy((name, password, done) => {
      if (name === 'broken') return done(new Error('the directory does not answer'));
      // Later, as strategies that ask a directory.
      setImmediate(() => done(null, password === door.password ? { username: name } : false));
    }),
  user: (found) => ({ name: (found as { username: string }).username, groups: ['door'] }),
});

const custom = passportAuthenticator({
  name: 'Keys',
  header: 'X-Api-Key',
  strategy: () =>
    new passportCustom.Strategy((request, done) => {
      const key = request.get('x-api-key');
      if (key === 'nameless') return done(null, {});
      done(null, key === 'k1' ? { name: 'robot', groups: ['robots'] } : false);
    }),
});

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ quiet: true, plugins: [{ plugin: basic, configuration: { password: 'secret' } }, custom] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const basicOf = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

it.each([
  { name: 'passport-http: a right password', headers: { authorization: basicOf('ada:secret') }, user: 'ada', group: 'door' },
  {
    name: 'passport-http: the scheme in another case',
    headers: { authorization: basicOf('ada:secret').replace('Basic', 'basic') },
    user: 'ada',
    group: 'door',
  },
  { name: 'passport-http: a wrong password', headers: { authorization: basicOf('ada:other') } },
  { name: 'passport-http: an error', headers: { authorization: basicOf('broken:secret') } },
  { name: 'passport-custom: a key', headers: { 'x-api-key': 'k1' }, user: 'robot', group: 'robots' },
  { name: 'passport-custom: an unknown key', headers: { 'x-api-key': 'k2' } },
  { name: 'passport-custom: a user without a name', headers: { 'x-api-key': 'nameless' } },
  { name: 'a client without credentials is anonymous', headers: {}, user: 'system:anonymous', group: 'system:unauthenticated' },
])('$name', async ({ headers, user, group }) => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const response = await cluster.fetch(path, { body, as: null, headers });
  if (user === undefined) return expect(response.status).toBe(401);
  // Authenticated users may review themselves; the refusal of an anonymous client names the user.
  const text = await response.text();
  expect(text).toContain(user === 'system:anonymous' ? `User \\"${user}\\"` : `"username":"${user}"`);
  if (user !== 'system:anonymous') expect(text).toContain(`"${group}"`);
});

it('tokens of built-in authenticators are not the business of a strategy for another scheme', async () => {
  expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200);
});

it('strategies of others run where bin/kubenest has taken __proto__ away', () => {
  const script = `
    const { BasicStrategy } = require('passport-http');
    const { Strategy } = require('passport-custom');
    const run = Object.create(new BasicStrategy((name, password, done) => done(null, { name })));
    run.success = ({ name }) => console.log(name);
    run.authenticate({ headers: { authorization: ${JSON.stringify(basicOf('ada:x'))} } });
    const other = Object.create(new Strategy((request, done) => done(null, { name: 'robot' })));
    other.success = ({ name }) => console.log(name);
    other.authenticate({ headers: {} });`;
  const output = execFileSync(process.execPath, ['--disable-proto=delete', '-e', script], { cwd: import.meta.dirname, encoding: 'utf8' });
  expect(output).toBe('ada\nrobot\n');
});

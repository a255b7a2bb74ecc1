import { execFileSync } from 'node:child_process';
import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { Controller, createParamDecorator, type ExecutionContext, Get, Module } from '@nestjs/common';
import { IsString } from 'class-validator';
import passportCustom from 'passport-custom';
import { BasicStrategy } from 'passport-http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestContextOf } from '#apiserver/request/execution-context';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';
import { pages } from './pages.ts';
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
      // Later, like strategies that query a directory.
      setImmediate(() => done(null, password === door.password ? { username: name } : false));
    }),
  user: (found) => ({ name: (found as { username: string }).username, groups: ['door'] }),
});

/** Creates a strategy that sends a browser elsewhere to log in, as those for OAuth do. */
const redirecting = passportAuthenticator({
  name: 'Elsewhere',
  header: 'X-Elsewhere',
  strategy: () => ({
    authenticate(this: { redirect(url: string): void }) {
      this.redirect('https://login.example.com/');
    },
  }),
});

const RequestUser = createParamDecorator((_: undefined, execution: ExecutionContext) => {
  const { name, groups } = requestContextOf(execution).authenticatedUser;
  return `${name} of ${groups.join()}`;
});

@Controller('me')
class MeController {
  @Get()
  me(@RequestUser() user: string): string {
    return user;
  }
}

@Module({ controllers: [MeController] })
class MeModule {}

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
  cluster = await startTestCluster({
    quiet: true,
    listen: true,
    plugins: [{ plugin: basic, configuration: { password: 'secret' } }, custom, redirecting, pages({ name: 'Me', module: MeModule })],
    objects: [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'me' },
        rules: [{ nonResourceURLs: ['/me'], verbs: ['get'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'me' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'me' },
        subjects: ['door', 'robots'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name })),
      },
    ],
  });
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
  const answer = await response.text();
  expect(answer).toContain(user === 'system:anonymous' ? `User \\"${user}\\"` : `"username":"${user}"`);
  if (user !== 'system:anonymous') expect(answer).toContain(`"${group}"`);
});

it.each([
  { name: 'passport-http', headers: { authorization: basicOf('ada:secret') }, status: 200, body: 'ada of door,system:authenticated' },
  { name: 'passport-custom', headers: { 'x-api-key': 'k1' }, status: 200, body: 'robot of robots,system:authenticated' },
  { name: 'passport-http with a wrong password', headers: { authorization: basicOf('ada:other') }, status: 401 },
  { name: 'a strategy that redirects', headers: { 'x-elsewhere': 'code' }, status: 401 },
  { name: 'no strategy', headers: {}, status: 403 },
])('a page authenticates by $name, without a session', async ({ headers, status, body }) => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  https.get(`${cluster.url}/me`, { ca: cluster.certificateAuthority, headers: { ...headers }, agent: false }, resolve).on('error', reject);
  const response = await promise;
  const page = await text(response);
  expect(response.statusCode).toBe(status);
  if (body !== undefined) expect(page).toBe(body);
  for (const header of ['set-cookie', 'location', 'www-authenticate']) expect(response.headers).not.toHaveProperty(header);
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

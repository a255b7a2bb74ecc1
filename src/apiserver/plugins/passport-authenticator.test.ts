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
import type { Authenticator, Credentials } from '#apiserver/authentication/authenticator';
import { requestContextOf } from '#apiserver/request/execution-context';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';
import { pages } from './pages.ts';
import { type PassportRequest, passportAuthenticator } from './passport-authenticator.ts';

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

/** The actions that passport gives a strategy. */
interface Actions {
  success(user: unknown): void;
  fail(challenge?: unknown, status?: number): void;
  pass(): void;
  error(cause: unknown): void;
  redirect(url: string): void;
}

/** Returns an authenticator whose strategy calls `act`. */
function acting(act: (run: Actions, request: PassportRequest) => unknown): (value: string) => Promise<unknown> {
  const strategy = () => ({
    authenticate(this: Actions, request: PassportRequest) {
      return act(this, request);
    },
  });
  const Plugin = passportAuthenticator({ name: 'Acting', header: 'X-Key', strategy }) as unknown as new () => Authenticator;
  const authenticator = new Plugin();
  return async (value) => authenticator.authenticate({ headers: { 'x-key': value }, path: '/api' } as unknown as Credentials);
}

const ada = { name: 'ada', groups: ['door'] };

it.each<{ name: string; act: (run: Actions) => unknown; user?: object; failure?: string }>([
  { name: 'success', act: (run) => run.success(ada), user: ada },
  { name: 'success, then an error', act: (run) => [run.success(ada), run.error(new Error('late'))], user: ada },
  { name: 'success without a user', act: (run) => run.success(undefined), failure: 'the credentials are wrong' },
  { name: 'pass', act: (run) => run.pass() },
  { name: 'a failure with a challenge', act: (run) => run.fail('Basic realm="Users"'), failure: 'Basic realm="Users"' },
  { name: 'a failure with a message and a status', act: (run) => run.fail({ message: 'expired' }, 403), failure: 'expired' },
  { name: 'a failure with a status only', act: (run) => run.fail(400), failure: 'the credentials are wrong' },
  { name: 'an error', act: (run) => run.error(new Error('no directory')), failure: 'no directory' },
  { name: 'an error that is a text', act: (run) => run.error('no directory'), failure: 'no directory' },
  {
    name: 'a redirect',
    act: (run) => run.redirect('https://login.example.com/'),
    failure: 'the strategy redirects, which API clients cannot follow',
  },
  {
    name: 'an exception',
    act: () => {
      throw new Error('no key');
    },
    failure: 'no key',
  },
  { name: 'a rejection of an asynchronous strategy', act: async () => Promise.reject(new Error('no key')), failure: 'no key' },
])('answers to $name', async ({ act, user, failure }) => {
  const answer = acting(act)('x');
  if (failure === undefined) expect(await answer).toEqual(user);
  else await expect(answer).rejects.toThrow(new Error(failure));
});

it('gives each of several simultaneous requests its own user', async () => {
  const waiting: (() => void)[] = [];
  const authenticate = acting((run, request) => {
    waiting.push(() => run.success({ name: request.get('x-key'), groups: [] }));
    if (waiting.length === 3) for (const succeed of waiting.toReversed()) succeed();
  });
  const users = await Promise.all(['a', 'b', 'c'].map(authenticate));
  expect(users).toEqual(['a', 'b', 'c'].map((name) => ({ name, groups: [] })));
});

it('runs strategies without __proto__, as bin/kubenest starts Node, and loads passport for them only', () => {
  const script = `
    import { createRequire } from 'node:module';
    import { BasicStrategy } from 'passport-http';
    import passportCustom from 'passport-custom';
    import { passportAuthenticator } from ${JSON.stringify(new URL('passport-authenticator.ts', import.meta.url).href)};
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('/node_modules/passport/'));
    const answers = [loaded()];
    const verify = (name, password, done) => done(null, password === 'x' && { name, groups: [] });
    for (const { header, value, strategy } of [
      { header: 'authorization', value: ${JSON.stringify(basicOf('ada:x'))}, strategy: () => new BasicStrategy(verify) },
      { header: 'authorization', value: ${JSON.stringify(basicOf('ada:y'))}, strategy: () => new BasicStrategy(verify) },
      { header: 'x-key', value: 'k1', strategy: () => new passportCustom.Strategy((request, done) => done(null, { name: 'robot', groups: [] })) },
    ]) {
      const authenticator = new (passportAuthenticator({ name: 'Strategy', header, strategy }))();
      const user = await authenticator.authenticate({ headers: { [header]: value }, path: '/' }).catch(({ message }) => ({ name: message }));
      answers.push(user.name);
    }
    console.log(JSON.stringify([...answers, loaded(), '__proto__' in {}]));`;
  const flags = ['--disable-proto=delete', '--conditions=kubenest-source', '--disable-warning=ExperimentalWarning', '--input-type=module'];
  const output = execFileSync(process.execPath, [...flags, '-e', script], { cwd: import.meta.dirname, encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual([false, 'ada', 'Basic realm="Users"', 'robot', true, false]);
});

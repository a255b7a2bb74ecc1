/**
 * Measures how long regular expressions of clients block the event loop: the CPU time of the thread between two turns. Each of them takes
 * 0.1 to 7 s to compile or to match, which another thread does.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { longestTurn } from './longest-turn.ts';
import { kubeconfigOf, startJsonService, startOidcProvider } from './services.ts';

const atMostMs = 100;

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster();
}, 60_000);
afterAll(() => cluster[Symbol.asyncDispose]());

async function create(path: string, object: object): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await cluster.fetch(path, { method: 'POST', body: JSON.stringify(object) });
  return { status: answer.status, text: await answer.text() };
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

let count = 0;

/** Returns a definition whose instances have `spec` of this schema, and the path of its instances. */
function definitionOf(spec: object): { readonly definition: object; readonly path: string; readonly kind: string } {
  const name = `pattern${(count += 1)}`;
  const group = 'patterns.example';
  const kind = name[0]!.toUpperCase() + name.slice(1);
  const plural = `${name}s`;
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: name, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  };
  return { definition, path: `/apis/${group}/v1/namespaces/default/${plural}`, kind };
}

async function served(path: string): Promise<void> {
  await vi.waitUntil(async () => (await cluster.fetch(path)).ok, { timeout: 60_000, interval: 20 });
}

/** The server keeps compiled patterns, so each attempt of a measurement has its own. */
const patterns: readonly (readonly [name: string, pattern: (attempt: number) => string, match: string])[] = [
  ['50,000 letters', (attempt) => 'a'.repeat(50_000 - attempt), 'a'.repeat(50_000)],
  ['2,000 Unicode classes', (attempt) => '\\pL'.repeat(2_000 - attempt), 'ä'.repeat(2_000)],
  ['one class of 8,000 Unicode classes', (attempt) => `^[${'\\pL\\pN'.repeat(4_000 - attempt)}]$`, 'x'],
  ['300 folded ranges', (attempt) => `(?i)^${'[B-\\x{1e900}]'.repeat(300 - attempt)}${'c?'.repeat(attempt)}$`, 'c'.repeat(300)],
  ['repetitions of a group', (attempt) => `^${'(?:a?b?){900}'.repeat(20)}${'c?'.repeat(attempt)}$`, 'ab'],
];

it.for(patterns)('a definition with %s, and its instances', { timeout: 120_000 }, async ([, pattern, match]) => {
  let codes: (string | number)[] = [];
  const turn = await longestTurn(async (attempt) => {
    const items = { type: 'string', pattern: pattern(attempt) };
    const { definition, path, kind } = definitionOf({ type: 'array', items });
    const { status, text } = await create(definitions, definition);
    expect(text).not.toContain('Invalid');
    await served(path);
    const instance = (name: string, spec: readonly string[]): object => ({
      apiVersion: 'patterns.example/v1',
      kind,
      metadata: { name },
      spec,
    });
    const good = await create(path, instance('good', [match, match]));
    const bad = await create(path, instance('bad', [match, '!', '?']));
    codes = [status, good.status, bad.status, [...bad.text.matchAll(/"field":"(spec\[\d\])"/g)].map(([, field]) => field).join()];
  }, atMostMs);
  expect(codes).toEqual([201, 201, 422, 'spec[1],spec[2]']);
  expect(turn).toBeLessThan(atMostMs);
});

it('a definition with a pattern that is large and malformed', async () => {
  const { definition } = definitionOf({ type: 'string', pattern: `${'\\pL'.repeat(16_000)}(` });
  const { status, text } = await create(definitions, definition);
  expect([status, text]).toEqual([422, expect.stringContaining('error parsing regexp: missing closing )')]);
});

it('a text of 1 MB that a schema matches', { timeout: 120_000 }, async () => {
  const { definition, path, kind } = definitionOf({ type: 'string', pattern: '^[a-z]+$' });
  expect(await create(definitions, definition)).toMatchObject({ status: 201 });
  await served(path);
  const turn = await longestTurn(async (attempt) => {
    const instance = {
      apiVersion: 'patterns.example/v1',
      kind,
      metadata: { name: `long-${attempt}` },
      spec: 'x'.repeat(1_000_000 - attempt),
    };
    expect(await create(path, instance)).toMatchObject({ status: 201 });
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

function policyOf(name: string, expression: string): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        objectSelector: { matchLabels: { policy: name } },
      },
      validations: [{ expression }],
    },
  };
}

async function enforce(name: string, expression: string): Promise<number> {
  const { status } = await create(policies, policyOf(name, expression));
  const binding = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  };
  await create('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', binding);
  return status;
}

const configMap = (policy: string, data: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { generateName: 'c', labels: { policy } },
  data,
});

it('a policy with a large pattern of its own', { timeout: 120_000 }, async () => {
  const turn = await longestTurn(async (attempt) => {
    const own = `own-${attempt}`;
    const letters = 1_100 + attempt;
    expect(await enforce(own, `object.data.all(k, object.data[k].matches('${'\\\\pL'.repeat(letters)}'))`)).toBe(201);
    await denies(configMap(own, { a: 'x' }));
    expect(await create(configMaps, configMap(own, { a: 'ä'.repeat(letters), b: 'b'.repeat(letters) }))).toMatchObject({ status: 201 });
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

it('a policy with patterns that clients write', { timeout: 120_000 }, async () => {
  await enforce('clients', "object.data.all(k, 'ä'.matches(object.data[k])) && object.data.a.find('b').size() == 0");
  const slow = (i: number): string => `^[${'\\pL\\PN'.repeat(1_000)}${i}]$`;
  await denies(configMap('clients', { a: 'x' }));
  const turn = await longestTurn(async (attempt) => {
    const [a, c, d, e, f] = [1, 2, 3, 4, 5].map((i) => slow(10 * attempt + i));
    expect(await create(configMaps, configMap('clients', { a, c, d }))).toMatchObject({ status: 201 });
    expect(await create(configMaps, configMap('clients', { a: e, c: `${f}x` }))).toMatchObject({ status: 422 });
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

const configMaps = '/api/v1/namespaces/default/configmaps';

/** Creates objects until the policy is enforced. */
async function denies(object: object): Promise<void> {
  for (;;) {
    const { status } = await create(configMaps, object);
    if (status === 422) return;
    expect(status).toBe(201);
  }
}

it('configuration files of authentication and authorization', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-patterns-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true }));
  const oidc = cleanup.use(await startOidcProvider());
  const webhook = cleanup.use(await startJsonService(() => ({ body: { status: { denied: true, reason: 'asked' } } })));
  const slow = (end: string): string => JSON.stringify(`^[${'\\pL'.repeat(700)}]+${end}$`);
  const issuer = { url: oidc.issuer, audiences: ['client'], certificateAuthority: oidc.certificateAuthority };
  const write = async (name: string, content: object | string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', ...content }));
    return file;
  };
  const authentication = await write('authentication.json', {
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer,
        claimMappings: { username: { claim: 'name', prefix: '' } },
        claimValidationRules: [{ expression: `claims.name.matches(${slow('o')})` }],
        userValidationRules: [{ expression: `!user.username.matches(${slow('oo')})` }],
      },
    ],
  });
  const connectionInfo = { type: 'KubeConfigFile', kubeConfigFile: await write('webhook.json', kubeconfigOf(webhook.url)) };
  const authorization = await write('authorization.json', {
    kind: 'AuthorizationConfiguration',
    authorizers: [
      {
        type: 'Webhook',
        name: 'w',
        webhook: {
          timeout: '3s',
          subjectAccessReviewVersion: 'v1',
          matchConditionSubjectAccessReviewVersion: 'v1',
          failurePolicy: 'Deny',
          connectionInfo,
          matchConditions: [{ expression: `request.user.matches(${slow('anno')})` }],
        },
      },
      { type: 'AlwaysAllow', name: 'alwaysallow' },
    ],
  });
  const own = cleanup.use(
    await startTestCluster({
      quiet: true,
      flags: [`--authentication-config=${authentication}`, `--authorization-config=${authorization}`],
    }),
  );
  const turn = await longestTurn(async (attempt) => {
    const codes: number[] = [];
    for (const name of ['jo', 'ja', 'joo', 'hanno', 'jo']) {
      const authorizationHeader = `Bearer ${await oidc.token({ sub: 's', aud: 'client', name: 'x'.repeat(attempt) + name })}`;
      codes.push((await own.fetch('/version/', { as: null, headers: { authorization: authorizationHeader } })).status);
    }
    expect(codes).toEqual([200, 401, 401, 403, 200]);
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

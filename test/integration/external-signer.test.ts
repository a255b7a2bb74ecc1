/** --service-account-signing-endpoint: a service signs service account tokens and publishes their keys. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { completeOptions } from '#cmd/options/complete';
import { readServerOptions } from '../../src/cmd/options/read-server-options.ts';
import { OptionsError } from '../../src/cmd/options/options-error.ts';
import { ExternalSigner } from '#kubernetes/serviceaccount/external-signer';
import { startTestCluster, type TestCluster } from '#testing/index';
import { parseTokenFile } from '#plugins/authentication/token-auth';
import { startTokenSigner, type TokenSigner } from '../servers/token-signer.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubenest-signer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const socket = join(folder, 'signer.sock');
const issuer = 'https://kubernetes.default.svc';
const account = '/api/v1/namespaces/default/serviceaccounts';

const ask = (path: string, { body, accept }: { readonly body?: object; readonly accept?: string } = {}): ReturnType<TestCluster['fetch']> =>
  cluster.fetch(path, { ...(body && { body }), as: null, headers: { authorization: 'Bearer secret', ...(accept && { accept }) } });

let service: TokenSigner;
let signer: ExternalSigner;
let cluster: TestCluster;

beforeAll(async () => {
  service = await startTokenSigner(socket);
  signer = await ExternalSigner.open(socket);
  const common = { audiences: [issuer], issuers: [issuer], lookup: true, jwksUri: undefined, keys: [], signer };
  cluster = await startTestCluster({
    config: {
      serviceAccounts: {
        issuer,
        signingKey: signer,
        apiAudiences: [issuer],
        maxExpirationSeconds: 7_200,
        extendsExpiration: true,
        maxExtendedSeconds: 7_200,
      },
      authentication: {
        anonymous: false,
        clientCa: undefined,
        tokens: parseTokenFile('secret,root,,system:masters\n'),
        serviceAccounts: common,
        apiAudiences: [issuer],
      },
    },
  });
  expect((await ask(account, { body: { metadata: { name: 'a' } } })).status).toBe(201);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  signer[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});
beforeEach(() => {
  service.header = {};
});
afterEach(() => {
  service.maxTokenExpirationSeconds = 7_200;
});

async function request(): Promise<{ readonly status: number; readonly token: string; readonly message: string }> {
  const response = await ask(`${account}/a/token`, { body: { spec: { expirationSeconds: 3600 } } });
  const body = (await response.json()) as { status: { token?: string }; message?: string };
  return { status: response.status, token: body.status.token ?? '', message: body.message ?? '' };
}

async function userOf(token: string): Promise<string | undefined> {
  const response = await ask('/apis/authentication.k8s.io/v1/tokenreviews', { body: { spec: { token } } });
  return ((await response.json()) as { status: { user?: { username: string } } }).status.user?.username;
}

const publishedIds = async (): Promise<string[]> =>
  ((await (await ask('/openid/v1/jwks', { accept: 'application/jwk-set+json' })).json()) as { keys: { kid: string }[] }).keys.map(
    ({ kid }) => kid,
  );

it('signs a valid token and publishes its key', async () => {
  const { status, token } = await request();
  expect(status).toBe(201);
  expect(await userOf(token)).toBe('system:serviceaccount:default:a');
  expect(await publishedIds()).toEqual(['key-1']);
  const openId = await ask('/.well-known/openid-configuration');
  expect(openId.headers.get('cache-control')).toMatch(/^public, max-age=(60|5\d)$/);
});

it('accepts a token of a new key immediately, and those of a retired key until it is withdrawn', async () => {
  const before = (await request()).token;
  service.rotate(true);
  const fetches = service.fetches;
  const after = (await request()).token;
  expect(await userOf(after)).toBe('system:serviceaccount:default:a');
  expect(service.fetches).toBe(fetches + 1);
  expect(await userOf(before)).toBe('system:serviceaccount:default:a');
  expect(await publishedIds()).toEqual(['key-2']);
});

it.each([
  [{ typ: 'JOSE' }, 'bad type'],
  [{ kid: '' }, 'key id missing'],
  [{ alg: 'none' }, 'bad signing algorithm "none"'],
  [{ crit: ['b64'] }, 'while parsing header JSON: json: unknown field "crit"'],
  [{ kid: 'key-1' }, 'key used for signing JWT (kid: key-1) is excluded from OIDC discovery docs'],
])('rejects a header with %j', async (header, reason) => {
  service.header = header;
  expect(await request()).toMatchObject({ status: 500, message: expect.stringContaining(`while validating header: ${reason}`) });
});

it.each<[flags: string[], problem: string]>([
  [
    ['--service-account-signing-key-file=/a'],
    "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)",
  ],
  [
    ['--service-account-max-token-expiration=3h'],
    '--service-account-signing-endpoint: service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: 3h0m0s > 2h0m0s',
  ],
  [
    ['--service-account-signing-endpoint=@a b'],
    'invalid value "@a b" passed for `--service-account-signing-endpoint`, when prefixed with @ must be a valid abstract socket name',
  ],
])('rejects %j', async (flags, problem) => {
  const attempt = async (): Promise<void> => {
    const command = await readServerOptions(['--ephemeral', `--service-account-signing-endpoint=${socket}`, ...flags]);
    if ('options' in command) await (await completeOptions(command.options)).dispose();
  };
  const problems = await attempt().then(
    () => [],
    (error: unknown) => (error instanceof OptionsError ? error.problems : Promise.reject(error as Error)),
  );
  expect(problems).toEqual([problem]);
});

it("limits token lifetimes to the service's maximum unless a flag is lower", async () => {
  const command = await readServerOptions(['--ephemeral', `--service-account-signing-endpoint=${socket}`]);
  if (!('options' in command)) throw new Error('missing options');
  const completed = await completeOptions(command.options);
  await completed.dispose();
  expect(completed.config.serviceAccounts).toMatchObject({ maxExpirationSeconds: 7_200, maxExtendedSeconds: 7_200 });
});

it('rejects a service whose maximum lifetime is too short', async () => {
  service.maxTokenExpirationSeconds = 60;
  await expect(ExternalSigner.open(socket)).rejects.toThrow(
    'max token life supported by external-jwt-signer (60s) is less than acceptable',
  );
});

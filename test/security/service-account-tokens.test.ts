import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const issuer = 'https://kubernetes.default.svc';
const base = '/api/v1/namespaces/default';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const old = generateKeyPairSync('rsa', { modulusLength: 2048 });

let folder: string;
let cluster: TestCluster;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-tokens-'));
  await writeFile(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'old.pub'), old.publicKey.export({ type: 'spki', format: 'pem' }));
  cluster = await startTestCluster({
    flags: [
      `--service-account-signing-key-file=${folder}/sa.key`,
      `--service-account-key-file=${folder}/sa.key`,
      `--service-account-key-file=${folder}/old.pub`,
      `--service-account-issuer=${issuer}`,
      '--service-account-issuer=https://old.example.com',
      '--disable-admission-plugins=ServiceAccount',
    ],
    objects: [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } },
      ...['bound', 'kept'].map((name) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } })),
    ],
  });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

interface Shown {
  readonly code: number;
  readonly userInfo?: {
    readonly username: string;
    readonly groups: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
}

async function whoami(token: string): Promise<Shown> {
  const response = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    as: null,
    headers: { authorization: `Bearer ${token}` },
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  });
  const body = (await response.json()) as { status: { userInfo: NonNullable<Shown['userInfo']> } };
  return { code: response.status, ...(response.status === 201 && { userInfo: body.status.userInfo }) };
}

async function request(spec: object): Promise<string> {
  const response = await cluster.fetch(`${base}/serviceaccounts/robot/token`, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  });
  return ((await response.json()) as { status: { token: string } }).status.token;
}

async function uidOf(path: string): Promise<string> {
  return ((await (await cluster.fetch(path)).json()) as { metadata: { uid: string } }).metadata.uid;
}

describe('service account tokens', () => {
  it('identify the user and the token', async () => {
    const { userInfo } = await whoami(await request({}));
    expect(userInfo).toMatchObject({
      username: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)] },
    });
  });

  it('for other audiences are rejected', async () => {
    expect((await whoami(await request({ audiences: ['elsewhere'] }))).code).toBe(401);
  });

  it('expire with the object that they are bound to', async () => {
    const token = await request({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'bound' } });
    const kept = await request({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'kept' } });
    await cluster.fetch(`${base}/secrets/bound`, { method: 'DELETE' });
    expect([(await whoami(token)).code, (await whoami(kept)).code]).toEqual([401, 201]);
  });

  const signed = async (claims: object, more: { issuer?: string; expires?: string } = {}): Promise<string> =>
    new SignJWT({
      aud: [issuer],
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: await uidOf(`${base}/serviceaccounts/robot`) } },
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(more.issuer ?? issuer)
      .setIssuedAt()
      .setExpirationTime(more.expires ?? '1h')
      .sign(old.privateKey);

  it.each([
    { name: 'of an older key', claims: {}, want: 201 },
    { name: 'of another accepted issuer', claims: {}, more: { issuer: 'https://old.example.com' }, want: 201 },
    { name: 'of an unknown issuer', claims: {}, more: { issuer: 'https://evil.example.com' }, want: 401 },
    { name: 'that have expired', claims: {}, more: { expires: '-5m' }, want: 401 },
    { name: 'that are not valid yet', claims: { nbf: Math.floor(Date.now() / 1000) + 600 }, want: 401 },
    {
      name: 'of a recreated account',
      claims: { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: 'other' } } },
      want: 401,
    },
    {
      name: 'of a missing account',
      claims: { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'nobody', uid: 'x' } } },
      want: 401,
    },
  ])('$name: $want', async ({ claims, more, want }) => {
    expect((await whoami(await signed(claims, more))).code).toBe(want);
  });

  it('from secrets are valid while the secret contains them, and their use is recorded', async () => {
    const uid = await uidOf(`${base}/serviceaccounts/robot`);
    const claims = {
      sub: 'system:serviceaccount:default:robot',
      'kubernetes.io/serviceaccount/namespace': 'default',
      'kubernetes.io/serviceaccount/secret.name': 'legacy',
      'kubernetes.io/serviceaccount/service-account.name': 'robot',
      'kubernetes.io/serviceaccount/service-account.uid': uid,
    };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer('kubernetes/serviceaccount')
      .sign(old.privateKey);
    expect((await whoami(token)).code).toBe(401);
    await cluster.fetch(`${base}/secrets`, {
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/service-account-token',
        metadata: { name: 'legacy', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
        data: { token: Buffer.from(token).toString('base64') },
      },
    });
    expect((await whoami(token)).userInfo?.username).toBe('system:serviceaccount:default:robot');
    await expect
      .poll(
        async () => ((await (await cluster.fetch(`${base}/secrets/legacy`)).json()) as { metadata: { labels?: object } }).metadata.labels,
      )
      .toEqual({ 'kubernetes.io/legacy-token-last-used': new Date().toISOString().slice(0, 10) });
    const metrics = await (await cluster.fetch('/metrics')).text();
    for (const name of ['legacy_tokens_total', 'legacy_manual_token_uses_total'])
      expect(metrics).toMatch(new RegExp(`^serviceaccount_${name} [1-9]`, 'm'));
    expect(metrics).toMatch(/^serviceaccount_legacy_auto_token_uses_total 0$/m);
  });

  it('can be verified with the published keys', async () => {
    const get = async (path: string): Promise<Record<string, never>> =>
      (await (await cluster.fetch(path, { headers: { accept: '*/*' } })).json()) as Record<string, never>;
    expect(await get('/.well-known/openid-configuration')).toMatchObject({
      issuer,
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
    });
    const id = createHash('sha256')
      .update(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }))
      .digest('base64url');
    expect(await get('/openid/v1/jwks')).toMatchObject({
      keys: [
        { use: 'sig', kty: 'EC', kid: id, alg: 'ES256' },
        { kty: 'RSA', alg: 'RS256' },
      ],
    });
  });
});

import { Buffer } from 'node:buffer';
import { generateKeyPairSync } from 'node:crypto';
import type { KubeObject } from 'kubenest/sdk';
import { fakeInformers } from 'kubenest/sdk/testing';
import { SignJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ServiceAccountOptions, ServiceAccountTokens } from './service-account.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const seconds = now / 1_000;
const issuer = 'https://issuer';
const pairs = ['a', 'b'].map((id) => ({ id, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }));
const [first, second] = pairs as [(typeof pairs)[0], (typeof pairs)[0]];

const bound = { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'u' } };
const claims = { iss: issuer, aud: ['api'], jti: 'id', exp: seconds + 60, nbf: seconds, iat: seconds, 'kubernetes.io': bound };
const sign = (changed: object = {}, { id, privateKey } = first): Promise<string> =>
  new SignJWT({ ...claims, ...changed }).setProtectedHeader({ alg: 'ES256', kid: id }).sign(privateKey);

const object = (kind: string, name: string, uid: string, rest: object = {}, metadata: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind, ...rest, metadata: { namespace: 'ns', name, uid, ...metadata } }) as KubeObject;
const robot = object('ServiceAccount', 'robot', 'u', { secrets: [{ name: 'auto' }] });

const uses: string[] = [];
const notes: string[] = [];
beforeEach(() => {
  uses.length = 0;
  notes.length = 0;
});
const request = {
  warn: (text: string) => void notes.push(text),
  annotate: (key: string, value: string) => void notes.push(`${key}=${value}`),
};
const tokens = (objects: Parameters<typeof fakeInformers>[0] = {}, options: Partial<ServiceAccountOptions> = {}) =>
  new ServiceAccountTokens(fakeInformers({ serviceaccounts: [robot], ...objects }), {
    issuers: [issuer],
    keySource: { keys: [{ id: first.id, key: first.publicKey }] },
    audiences: ['api'],
    lookup: true,
    onUse: (use) => void uses.push(use),
    now: () => now,
    ...options,
  });
const user = {
  name: 'system:serviceaccount:ns:robot',
  uid: 'u',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
  audiences: ['api'],
};
const withExtra = (extra: Record<string, string> = {}): object => ({
  ...user,
  extra: Object.fromEntries(
    Object.entries({ 'credential-id': 'JTI=id', ...extra }).map(([key, value]) => [`authentication.kubernetes.io/${key}`, [value]]),
  ),
});
const references = (more: object): object => ({ 'kubernetes.io': { ...bound, ...more } });

describe('a bound token', () => {
  const pod = object('Pod', 'p', 'v');
  const node = { ...object('Node', 'n', 'w'), metadata: { name: 'n', uid: 'w' } };
  it.each<{ name: string; changed?: object; objects?: Parameters<typeof fakeInformers>[0]; want?: object; fails?: string }>([
    { name: 'is accepted', want: withExtra() },
    { name: 'of another issuer is not judged', changed: { iss: 'https://other' } },
    {
      name: 'for other audiences fails',
      changed: { aud: ['x'] },
      fails: 'token audiences ["x"] is invalid for the target audiences ["api"]',
    },
    { name: 'is accepted within a minute of its expiry', changed: { exp: seconds - 60 }, want: withExtra() },
    { name: 'fails later', changed: { exp: seconds - 61 }, fails: 'service account token has expired' },
    { name: 'that is not valid yet fails', changed: { nbf: seconds + 61 }, fails: 'service account token is not valid yet' },
    { name: 'of the future fails', changed: { iat: seconds + 61 }, fails: 'service account token is issued in the future' },
    { name: 'of a missing account fails', objects: { serviceaccounts: [] }, fails: 'serviceaccounts "robot" not found' },
    {
      name: 'of a recreated account fails',
      objects: { serviceaccounts: [object('ServiceAccount', 'robot', 'x')] },
      fails: 'service account UID (x) does not match claim (u)',
    },
    {
      name: 'of an account that was deleted a minute ago fails',
      objects: { serviceaccounts: [object('ServiceAccount', 'robot', 'u', {}, { deletionTimestamp: '2025-12-31T23:58:59Z' })] },
      fails: 'service account ns/robot has been deleted',
    },
    {
      name: 'of a pod names it',
      changed: references({ pod: { name: 'p', uid: 'v' } }),
      objects: { pods: [pod] },
      want: withExtra({ 'pod-name': 'p', 'pod-uid': 'v' }),
    },
    { name: 'of a missing pod fails', changed: references({ pod: { name: 'p', uid: 'v' } }), fails: 'has been invalidated' },
    {
      name: 'of a recreated pod fails',
      changed: references({ pod: { name: 'p', uid: 'x' } }),
      objects: { pods: [pod] },
      fails: 'pod UID (v) does not match service account pod ref claim (x)',
    },
    {
      name: 'of a node names it',
      changed: references({ node: { name: 'n', uid: 'w' } }),
      objects: { nodes: [node] },
      want: withExtra({ 'node-name': 'n', 'node-uid': 'w' }),
    },
    {
      name: 'of a secret depends on it',
      changed: references({ secret: { name: 's', uid: 'z' } }),
      objects: { secrets: [object('Secret', 's', 'y')] },
      fails: 'secret UID (y) does not match service account secret ref claim (z)',
    },
    { name: 'with a claim of another type fails', changed: { jti: 1 }, fails: 'claim "jti" must be a text' },
  ])('$name', async ({ changed, objects, want, fails }) => {
    const token = await sign(changed);
    const authenticate = async (): Promise<unknown> => tokens(objects).authenticateToken(token, request);
    if (fails !== undefined) await expect(authenticate()).rejects.toThrow(fails);
    else expect(await authenticate()).toEqual(want);
  });

  it.each([
    [undefined, []],
    [seconds + 1, ['valid']],
    [seconds - 1, ['stale']],
  ])('with the warning time %s is counted as %j', async (warnafter, want) => {
    await tokens().authenticateToken(await sign(references({ warnafter })), request);
    expect(uses).toEqual(want);
    const stale = 'authentication.k8s.io/stale-token=subject: , seconds after warning threshold: 1';
    expect(notes).toEqual(want[0] === 'stale' ? [stale] : []);
  });
});

describe('the signature', () => {
  it('fails for an unknown key', async () => {
    const token = await sign({}, second);
    expect(() => tokens().authenticateToken(token, request)).toThrow('invalid signature, no keys found');
  });

  it('fails for another key with the same id', async () => {
    const token = await sign({}, { ...second, id: first.id });
    expect(() => tokens().authenticateToken(token, request)).toThrow('error in cryptographic primitive');
  });

  it('is accepted for a key that the source has after a refresh', async () => {
    const keys = [{ id: first.id, key: first.publicKey }];
    const refresh = async (): Promise<void> => void keys.push({ id: second.id, key: second.publicKey });
    expect(await tokens({}, { keySource: { keys, refresh } }).authenticateToken(await sign({}, second), request)).toEqual(withExtra());
  });

  it('fails if the refresh of the keys fails', async () => {
    const keySource = { keys: [], refresh: () => Promise.reject(new Error('signer gone')) };
    await expect(tokens({}, { keySource }).authenticateToken(await sign(), request)).rejects.toThrow('no keys found');
  });
});

describe('a token of a secret', () => {
  const prefix = 'kubernetes.io/serviceaccount/';
  const legacy = (secretName: string): Promise<string> =>
    new SignJWT({
      iss: 'kubernetes/serviceaccount',
      sub: 'system:serviceaccount:ns:robot',
      [`${prefix}namespace`]: 'ns',
      [`${prefix}secret.name`]: secretName,
      [`${prefix}service-account.name`]: 'robot',
      [`${prefix}service-account.uid`]: 'u',
    })
      .setProtectedHeader({ alg: 'ES256', kid: first.id })
      .sign(first.privateKey);
  const secret = (name: string, token: string, metadata: object = {}): KubeObject =>
    object('Secret', name, 's', { data: { token: Buffer.from(token).toString('base64') } }, metadata);

  it.each([
    ['hand', ['legacy', 'legacyManual']],
    ['auto', ['legacy', 'legacyAuto']],
  ])('named %s is accepted while the secret has it, and counted as %j', async (name, want) => {
    const token = await legacy(name);
    const used: KubeObject[] = [];
    const stored = secret(name, token);
    const found = tokens({ secrets: [stored] }, { onLegacyTokenUse: (object) => void used.push(object) }).authenticateToken(token, request);
    expect(found).toEqual(user);
    expect([uses, used]).toEqual([want, [stored]]);
    expect(notes.some((note) => note.startsWith('Use tokens from the TokenRequest API'))).toBe(name === 'auto');
  });

  it.each<[string, (token: string) => KubeObject[], string]>([
    ['a missing secret', () => [], 'Token has been invalidated'],
    ['a deleted secret', (token) => [secret('hand', token, { deletionTimestamp: '2026-01-01T00:00:00Z' })], 'Token has been invalidated'],
    ['another token in the secret', (token) => [secret('hand', `${token}x`)], "Token does not match server's copy"],
    [
      'an invalidated secret',
      (token) => [secret('hand', token, { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } })],
      'has been marked invalid',
    ],
  ])('fails with %s', async (_, secrets, message) => {
    const token = await legacy('hand');
    expect(() => tokens({ secrets: secrets(token) }).authenticateToken(token, request)).toThrow(message);
  });

  it('is accepted without its secret if --service-account-lookup is off', async () => {
    expect(tokens({}, { lookup: false }).authenticateToken(await legacy('hand'), request)).toEqual(user);
  });
});

import { Buffer } from 'node:buffer';
import type { KubeObject } from 'kubenest/sdk';
import { fakeInformers } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { BootstrapToken } from './bootstrap-token.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const token = 'abcdef.0123456789abcdef';
const data = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};

function secret(changed: Readonly<Record<string, string>> = {}, rest: Partial<KubeObject> & { type?: string } = {}): KubeObject {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries({ ...data, ...changed }).map(([key, text]) => [key, base64(text)])),
    ...rest,
    metadata: { namespace: 'kube-system', name: 'bootstrap-token-abcdef', ...rest.metadata },
  } as KubeObject;
}

const node = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
const extra = (groups: string) => secret({ 'auth-extra-groups': groups });

it.each<{ name: string; secret: KubeObject; sent?: string; want?: object }>([
  { name: 'a token of a secret is accepted', secret: secret(), want: node },
  {
    name: 'extra groups are added in order, once',
    secret: extra('system:bootstrappers:b,system:bootstrappers:a,system:bootstrappers:a'),
    want: { ...node, groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b'] },
  },
  { name: 'an extra group outside of the prefix rejects the token', secret: extra('system:masters') },
  { name: 'a wrong secret part', secret: secret(), sent: 'abcdef.0123456789abcdee' },
  { name: 'an unknown id', secret: secret(), sent: 'abcdeg.0123456789abcdef' },
  { name: 'another form', secret: secret(), sent: `${token} ` },
  { name: 'a secret with another id', secret: secret({ 'token-id': 'abcdeg' }) },
  { name: 'a secret of another type', secret: secret({}, { type: 'Opaque' }) },
  { name: 'a secret in another namespace', secret: secret({}, { metadata: { namespace: 'default' } }) },
  { name: 'a deleted secret', secret: secret({}, { metadata: { deletionTimestamp: '2025-01-01T00:00:00Z' } }) },
  { name: 'a secret for another use', secret: secret({ 'usage-bootstrap-authentication': 'yes' }) },
  { name: 'a secret that expires later is accepted', secret: secret({ expiration: '2026-01-01T00:00:01Z' }), want: node },
  { name: 'an expired secret', secret: secret({ expiration: '2026-01-01T00:00:00Z' }) },
  { name: 'a malformed expiration', secret: secret({ expiration: 'soon' }) },
])('$name', ({ secret: stored, sent = token, want }) => {
  const authenticator = new BootstrapToken(fakeInformers({ secrets: [stored] }), () => now);
  expect(authenticator.authenticateToken(sent)).toEqual(want);
});

import type { JsonClient } from '#sdk/internal';
import { describe, expect, it } from 'vitest';
import { WebhookTokenAuth } from './webhook-token.ts';

const jane = { username: 'jane', uid: 'u', groups: ['devs'], extra: { a: ['b'] } };
const asked: object[] = [];
/** A webhook that answers each review with this status. */
const answering = (status: object): JsonClient =>
  ({
    post: async (review: object) => {
      asked.push(review);
      return { status };
    },
  }) as unknown as JsonClient;

describe('WebhookTokenAuth', () => {
  it.each<{ name: string; status: object; own?: string[]; wanted?: string[]; want?: object }>([
    {
      name: 'a user',
      status: { authenticated: true, user: jane },
      want: { name: 'jane', uid: 'u', groups: ['devs'], extra: { a: ['b'] } },
    },
    { name: 'a user without members', status: { authenticated: true }, want: { name: '', groups: [] } },
    { name: 'a token that the webhook does not know', status: { authenticated: false } },
    { name: 'an answer without a status', status: {} },
    {
      name: 'the audiences that token and request share',
      status: { authenticated: true, audiences: ['a', 'b'] },
      wanted: ['b', 'c'],
      want: { name: '', groups: [], audiences: ['b'] },
    },
    { name: 'no common audience', status: { authenticated: true, audiences: ['a'] }, wanted: ['b'] },
    {
      name: "the server's audiences for a webhook without audiences",
      status: { authenticated: true },
      own: ['api'],
      want: { name: '', groups: [], audiences: ['api'] },
    },
  ])('$name', async ({ status, own = [], wanted, want }) => {
    const authenticator = new WebhookTokenAuth(answering(status), 'v1', own);
    expect(await authenticator.authenticateToken('t', { audiences: wanted })).toEqual(want);
  });

  it('fails with the error of the webhook', async () => {
    const authenticator = new WebhookTokenAuth(answering({ authenticated: false, error: 'revoked' }), 'v1', []);
    await expect(authenticator.authenticateToken('t', {})).rejects.toThrow('revoked');
  });

  it('sends the token and the audiences in a review of its version', async () => {
    asked.length = 0;
    await new WebhookTokenAuth(answering({}), 'v1beta1', ['api']).authenticateToken('t', {});
    expect(asked).toMatchObject([
      { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1beta1', spec: { token: 't', audiences: ['api'] } },
    ]);
  });
});

import type { JsonClient } from '#sdk/internal';
import { describe, expect, it } from 'vitest';
import { attributes, pathAttributes } from './test-attributes.ts';
import { WebhookAuthorizer, type WebhookAuthorizerOptions } from './webhook.ts';

/** An authorizer over a webhook that answers with `answer`, with the reviews it has sent and a clock that the test advances. */
function fixture(answer: () => object | Promise<object>, options: Partial<WebhookAuthorizerOptions> = {}) {
  let time = 0;
  const asked: { spec: object; apiVersion: string }[] = [];
  const client = {
    async post(review: { spec: object; apiVersion: string }) {
      asked.push(review);
      return { status: await answer() };
    },
  } as unknown as JsonClient;
  const authorizer = new WebhookAuthorizer(client, {
    name: 'hook',
    version: 'v1',
    authorizedTtlMs: 100,
    unauthorizedTtlMs: 10,
    failurePolicy: 'NoOpinion',
    now: () => time,
    ...options,
  });
  return { authorizer, asked, wait: (ms: number) => (time += ms) };
}

describe('WebhookAuthorizer', () => {
  it.each([
    [
      { allowed: true, reason: 'yes' },
      { decision: 'Allow', reason: 'yes' },
    ],
    [
      { allowed: false, reason: 'hm' },
      { decision: 'NoOpinion', reason: 'hm' },
    ],
    [
      { denied: true, reason: 'no' },
      { decision: 'Deny', reason: 'no' },
    ],
    [
      { allowed: true, denied: true },
      { decision: 'Deny', reason: '' },
    ],
    [{}, { decision: 'NoOpinion', reason: '' }],
  ])('the status %j is the decision %j', async (status, want) => {
    expect(await fixture(() => status).authorizer.authorize(attributes())).toEqual(want);
  });

  it('sends the user and what the request does', async () => {
    const { authorizer, asked } = fixture(() => ({}));
    const user = { name: 'jane', uid: 'u', groups: ['devs'], extra: { a: ['b'] } };
    const labelSelector = [{ key: 'a', operator: 'In', values: ['b'] }] as const;
    await authorizer.authorize(attributes({ user, subresource: 'log', labelSelector }));
    await authorizer.authorize(pathAttributes('/logs'));
    expect(asked.map(({ spec }) => spec)).toEqual([
      {
        user: 'jane',
        uid: 'u',
        groups: ['devs'],
        extra: { a: ['b'] },
        resourceAttributes: {
          namespace: 'ns',
          verb: 'get',
          version: 'v1',
          resource: 'pods',
          subresource: 'log',
          name: 'p',
          labelSelector: { requirements: labelSelector },
        },
      },
      { user: 'jane', nonResourceAttributes: { path: '/logs', verb: 'get' } },
    ]);
  });

  it('names the groups `group` in v1beta1', async () => {
    const { authorizer, asked } = fixture(() => ({}), { version: 'v1beta1' });
    await authorizer.authorize(attributes({ user: { name: 'jane', groups: ['devs'] } }));
    expect(asked).toMatchObject([{ apiVersion: 'authorization.k8s.io/v1beta1', spec: { group: ['devs'] } }]);
  });

  it.each([
    [true, [0, 99, 1], 2],
    [false, [0, 9, 1], 2],
  ])('keeps an answer with allowed %s for its time', async (allowed, waits, calls) => {
    const { authorizer, asked, wait } = fixture(() => ({ allowed }));
    for (const ms of waits) {
      wait(ms);
      await authorizer.authorize(attributes());
    }
    expect(asked).toHaveLength(calls);
  });

  it('does not keep answers for very long attributes', async () => {
    const { authorizer, asked } = fixture(() => ({ allowed: true }));
    for (let call = 0; call < 2; call += 1) await authorizer.authorize(attributes({ name: 'x'.repeat(10_000) }));
    expect(asked).toHaveLength(2);
  });

  it('shares one call among concurrent equal requests', async () => {
    const answer = Promise.withResolvers<object>();
    const { authorizer, asked } = fixture(() => answer.promise);
    const decisions = Promise.all([authorizer.authorize(attributes()), authorizer.authorize(attributes())]);
    answer.resolve({ allowed: true });
    expect((await decisions).map(({ decision }) => decision)).toEqual(['Allow', 'Allow']);
    expect(asked).toHaveLength(1);
  });

  it('has no opinion of requests that its match conditions do not select', async () => {
    const { authorizer, asked } = fixture(() => ({ allowed: true }), { matches: ({ user }) => user !== 'jane' });
    expect(await authorizer.authorize(attributes())).toEqual({ decision: 'NoOpinion', reason: '' });
    expect(asked).toEqual([]);
  });

  it('fails with its failure policy', async () => {
    const fails = (): never => {
      throw new Error('unreachable');
    };
    await expect(fixture(fails).authorizer.authorize(attributes())).rejects.toThrow('unreachable');
    expect(await fixture(fails, { failurePolicy: 'Deny' }).authorizer.authorize(attributes())).toEqual({
      decision: 'Deny',
      reason: 'unreachable',
    });
  });
});

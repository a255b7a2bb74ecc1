import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Registry } from 'prom-client';
import { newForbidden } from '#apimachinery/api/errors';
import { AuditMetrics } from '#apiserver/audit/audit-metrics';
import type { AuditEvent } from '#apiserver/audit/event';
import { EventsOfTurn } from '#apiserver/audit/events-of-turn';
import { PolicyEvaluator } from '#apiserver/audit/policy';
import { respondBytes, respondError } from '#apiserver/endpoints/handlers/responses';
import { type Handler, RequestContext } from '#apiserver/request/request-context';
import { parseQuery } from '#apiserver/request/query';
import { parseRequestInfo } from '#apiserver/request/request-info';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { withAudit } from './audit.ts';
import { withAuthentication } from './authentication.ts';
import { withAuditId } from './audit-id.ts';
import { withCacheControl } from './cache-control.ts';
import { withCORS, compileOrigin } from './cors.ts';
import { withHSTS } from './hsts.ts';
import { withMaxInFlight } from './max-in-flight.ts';
import { withPanicRecovery } from './panic-recovery.ts';
import { withProbabilisticGoaway } from './probabilistic-goaway.ts';
import { withRequestDeadline } from './request-deadline.ts';
import { withRequestInfo } from './request-info.ts';
import { withRetryAfter } from './retry-after.ts';
import { withStorageVersionPrecondition } from './storage-version-precondition.ts';
import { withTimeoutForNonLongRunning } from './timeout.ts';
import { withWaitGroup } from './wait-group.ts';
import { WaitGroup } from '#apiserver/base/wait-group';

function request(url = '/api/v1/pods', headers: Record<string, string> = {}, method = 'GET') {
  const exchange = new InProcessExchange({ method, url, headers, body: undefined });
  const [path = '', query = ''] = url.split('?');
  const context = new RequestContext(
    exchange,
    path,
    query,
    parseRequestInfo(method, path, () => parseQuery(query)),
  );
  context.receivedAt = performance.now();
  return { context, exchange, answer: () => exchange.response };
}

/** Returns an audited request and the batches of events that the backend received. */
function auditedRequest(
  handler: Handler,
  {
    method = 'GET',
    awaitsFirst = false,
    holdsAnswers = false,
  }: { method?: string | undefined; awaitsFirst?: boolean | undefined; holdsAnswers?: boolean } = {},
) {
  const events: (readonly AuditEvent[])[] = [];
  const backend = { name: 'kept', process: (more: readonly AuditEvent[]) => events.push(more) > 0, shutDown: async () => {} };
  const policy = new PolicyEvaluator({ rules: [], omitStages: [], omitManagedFields: false });
  policy.evaluate = () => ({ level: 'Metadata', omitStages: new Set(), omitManagedFields: false });
  const { context, answer } = request('/api/v1/pods', {}, method);
  context.user = { name: 'jane', groups: [] };
  const ofTurn = holdsAnswers ? new EventsOfTurn(backend, () => {}) : undefined;
  const audited = withAudit({ policy, backend, metrics: new AuditMetrics(new Registry()), awaitsFirst, ofTurn })(handler);
  return { context, events, audited, answer };
}

const ok: Handler = (context) => respondBytes(context, 200, 'text/plain', Buffer.from('ok'));

describe('the request info', () => {
  /** Returns the path with a field selector of this many terms. */
  const selecting = (terms: number): string =>
    `/api/v1/pods?fieldSelector=${[...Array.from({ length: terms }, (_, i) => `spec.nodeName!=n${i}`), 'metadata.name=p'].join()}`;

  it.each([
    { name: 'at once', terms: 1, isLong: false },
    { name: 'in several turns, where the selector is long', terms: 50_000, isLong: true },
  ])('has the selected name $name', async ({ terms, isLong }) => {
    const { context } = request(selecting(terms));
    let turns = 0;
    let seen: string | undefined;
    const count = (): void => {
      turns += 1;
      if (seen === undefined) setImmediate(count);
    };
    setImmediate(count);
    const answered = withRequestInfo(({ info }) => {
      seen = info.name;
    })(context);
    expect(seen).toBe(isLong ? undefined : 'p');
    await answered;
    expect(seen).toBe('p');
    expect(turns > 5).toBe(isLong);
  });
});

describe('filters', () => {
  it("AuditID uses the client's ID or creates one", async () => {
    const named = request('/api', { 'audit-id': 'mine' });
    void withAuditId(ok)(named.context);
    expect((await named.answer()).headers.get('audit-id')).toBe('mine');
    const unnamed = request();
    void withAuditId(ok)(unnamed.context);
    expect((await unnamed.answer()).headers.get('audit-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each<[string, Handler]>([
    [
      'thrown',
      () => {
        throw new TypeError('bug');
      },
    ],
    ['rejected', () => Promise.reject(new TypeError('bug'))],
  ])('Audit records a %s error as a panic and propagates it', async (_, handler) => {
    const { context, events, audited } = auditedRequest(handler);
    await expect((async () => audited(context))()).rejects.toThrow('bug');
    expect(events.flat().map(({ stage, responseStatus }) => [stage, responseStatus?.['message']])).toEqual([
      ['RequestReceived', undefined],
      ['Panic', "APIServer panic'd: bug"],
    ]);
  });

  const received = ['RequestReceived'];
  const both = ['RequestReceived', 'ResponseComplete'];
  const later: Handler = async (context) => {
    await nextTurn();
    await ok(context);
  };
  it.each<{ name: string; handler: Handler; method?: string; url?: string; awaitsFirst?: boolean; atOnce: string[][]; atEnd: string[][] }>([
    { name: 'both events of a synchronous read in one batch', handler: ok, atOnce: [both], atEnd: [both] },
    { name: 'the events of an asynchronous read separately', handler: later, atOnce: [received], atEnd: [received, ['ResponseComplete']] },
    {
      name: 'the first event of a write before its execution',
      handler: ok,
      method: 'POST',
      atOnce: [received, ['ResponseComplete']],
      atEnd: [received, ['ResponseComplete']],
    },
    {
      name: 'the first event of a read that depends on its storage',
      handler: ok,
      awaitsFirst: true,
      atOnce: [received, ['ResponseComplete']],
      atEnd: [received, ['ResponseComplete']],
    },
    { name: 'the first event of a read without a response', handler: () => {}, atOnce: [received], atEnd: [received] },
  ])('Audit hands over $name', async ({ handler, method, awaitsFirst, atOnce, atEnd }) => {
    const { context, events, audited } = auditedRequest(withPanicRecovery(() => {})(handler), { method, awaitsFirst });
    const stages = (): string[][] => events.map((some) => some.map(({ stage }) => stage));
    const over = audited(context);
    expect(stages()).toEqual(atOnce);
    await over;
    expect(stages()).toEqual(atEnd);
  });

  it('Audit hands over both events before the response is sent', () => {
    const { context, events, audited } = auditedRequest(ok);
    const { send } = context.exchange;
    let before = -1;
    context.exchange.send = (...args) => {
      before = events.flat().length;
      send.apply(context.exchange, args);
    };
    void audited(context);
    expect(before).toBe(2);
  });

  it.each<[string, () => Promise<void>]>([
    ['fails', () => Promise.reject(new TypeError('bug'))],
    ['is refused', () => Promise.reject(newForbidden({ group: '', resource: 'pods' }, 'a', 'late'))],
  ])('a response that waits for its events is sent and recorded if later work %s', async (_, after) => {
    const { context, events, audited, answer } = auditedRequest(
      async (asked) => {
        await ok(asked);
        await after().catch((error: unknown) => respondError(asked, error));
      },
      { holdsAnswers: true },
    );
    await withPanicRecovery(() => {})(audited)(context);
    expect((await answer()).status).toBe(200);
    expect(events.flat().map(({ stage, responseStatus }) => [stage, responseStatus?.['code']])).toEqual([
      ['RequestReceived', undefined],
      ['ResponseComplete', 200],
    ]);
  });

  it.each([
    { name: 'a write of a pending resource', method: 'POST', url: '/apis/apps/v1/namespaces/a/deployments', want: 503 },
    { name: 'a read of a pending resource', method: 'GET', url: '/apis/apps/v1/deployments', want: 200 },
    { name: 'a write of another resource', method: 'POST', url: '/api/v1/namespaces/a/pods', want: 200 },
    { name: 'a POST of a non-resource path', method: 'POST', url: '/version', want: 200 },
    { name: 'a StorageVersion', method: 'POST', url: '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions', want: 200 },
    { name: 'a lease in kube-system', method: 'PUT', url: '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a', want: 200 },
    { name: 'a lease in another namespace', method: 'PUT', url: '/apis/coordination.k8s.io/v1/namespaces/a/leases/a', want: 503 },
    { name: 'any write after completion', method: 'POST', url: '/apis/apps/v1/namespaces/a/deployments', completed: true, want: 200 },
  ])('StorageVersionPrecondition responds to $name with $want', async ({ method, url, completed = false, want }) => {
    const barrier = { completed, isPending: ({ resource }: { resource: string }) => resource !== 'pods', lastError: () => undefined };
    const { context, answer } = request(url, {}, method);
    void withStorageVersionPrecondition(barrier)(ok)(context);
    const response = await answer();
    expect(response.status).toBe(want);
    if (want === 503)
      expect(await response.json()).toMatchObject({
        reason: 'ServiceUnavailable',
        message: expect.stringMatching(
          /^wait for storage version registration to complete for resource: (deployments.apps|leases.coordination.k8s.io), last seen error: <nil>$/,
        ),
      });
  });

  it('CacheControl and HSTS set their headers', async () => {
    const { context, answer } = request();
    void withCacheControl(withHSTS(['max-age=31536000', 'includeSubDomains'])(ok))(context);
    const { headers } = await answer();
    expect([headers.get('cache-control'), headers.get('strict-transport-security')]).toEqual([
      'no-cache, private',
      'max-age=31536000; includeSubDomains',
    ]);
  });

  it.each<[string, Handler]>([
    [
      'thrown',
      () => {
        throw new TypeError('bug');
      },
    ],
    ['rejected', () => Promise.reject(new TypeError('bug'))],
  ])('PanicRecovery responds to a %s error with 500 and continues', async (_, handler) => {
    const seen: unknown[] = [];
    const { context, answer } = request();
    await withPanicRecovery((error) => seen.push(error))(handler)(context);
    const response = await answer();
    expect([response.status, await response.text()]).toEqual([
      500,
      'This request caused apiserver to panic. Look in the logs for details.\n',
    ]);
    expect(seen).toEqual([new TypeError('bug')]);
  });

  it('PanicRecovery responds without the headers of a body that could not be sent', () => {
    const { context } = request();
    const sent: unknown[] = [];
    const send = (status: number, headers: string[], body: Buffer | undefined): void => {
      headers.push('Content-Length', String(body?.length));
      if (status > 999) throw new RangeError(`Invalid status code: ${status}`);
      sent.push(
        status,
        headers.filter((_, i) => /^content-/i.test(headers[i - (i % 2)] ?? '')),
      );
    };
    Object.defineProperty(context.exchange, 'send', { value: send });
    void withPanicRecovery(() => {})((one) => respondBytes(one, 1_000, 'application/json', Buffer.from('{}')))(context);
    expect(sent).toEqual([500, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '70']]);
  });

  it('CORS responds to preflights of allowed origins only', async () => {
    const filter = withCORS([compileOrigin('^https://example\\.com$')]);
    const known = request('/api', { origin: 'https://example.com' }, 'OPTIONS');
    void filter(ok)(known.context);
    const response = await known.answer();
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, 'https://example.com']);
    const other = request('/api', { origin: 'https://example.com.evil' });
    void filter(ok)(other.context);
    expect((await other.answer()).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('MaxInFlight rejects requests above the limit, except of system:masters', async () => {
    let finish = (): void => {};
    const slow: Handler = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    const filter = withMaxInFlight({ readOnly: 1, mutating: 1 });
    const handler = filter(slow);
    const first = request();
    const pending = handler(first.context);
    const second = request();
    void handler(second.context);
    const refused = await second.answer();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    const master = request();
    master.context.user = { name: 'admin', groups: ['system:masters'] };
    const alsoPending = handler(master.context);
    const finishMaster = finish;
    finishMaster();
    await alsoPending;
    expect(pending).toBeInstanceOf(Promise);
  });

  it('RequestDeadline applies ?timeout= with a maximum and rejects malformed values', async () => {
    const filter = withRequestDeadline(60_000);
    const { context } = request('/api/v1/pods?timeout=2s');
    void filter(() => {})(context);
    expect(Math.round((context.deadline - context.receivedAt) / 1000)).toBe(2);
    const wrong = request('/api/v1/pods?timeout=10');
    void filter(ok)(wrong.context);
    expect(await (await wrong.answer()).json()).toMatchObject({
      code: 400,
      message: 'invalid timeout specified in the request URL - time: missing unit in duration "10"',
    });
  });

  it('TimeoutForNonLongRunning responds with 504 at the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    try {
      const { context, answer } = request();
      context.deadline = performance.now() + 10;
      void withTimeoutForNonLongRunning()(() => sleep(5_000, undefined, { ref: false }))(context);
      // The shared timer runs only four times a second.
      await vi.advanceTimersByTimeAsync(20);
      expect(await (await answer()).json()).toMatchObject({ code: 504, reason: 'Timeout' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('RetryAfter rejects requests during a shutdown, except health checks', async () => {
    const filter = withRetryAfter({ fired: true });
    const { context, answer } = request();
    void filter(ok)(context);
    expect((await answer()).status).toBe(429);
    const health = request('/readyz');
    void filter(ok)(health.context);
    expect((await health.answer()).status).toBe(200);
  });

  it('ProbabilisticGoaway does not affect HTTP/1.1', () => {
    const { context } = request();
    let closed = false;
    context.exchange.closeConnectionAfter = () => {
      closed = true;
    };
    void withProbabilisticGoaway(1, () => 0)(() => {})(context);
    expect(closed).toBe(false);
  });

  it.each([
    { protocol: 'HTTP/2.0', groups: ['system:unauthenticated'], limits: true, closes: true },
    { protocol: 'HTTP/2.0', groups: ['system:unauthenticated'], limits: false, closes: false },
    { protocol: 'HTTP/2.0', groups: ['system:authenticated'], limits: true, closes: false },
    { protocol: 'HTTP/1.1', groups: ['system:unauthenticated'], limits: true, closes: false },
  ])('Authentication over $protocol of $groups with the mitigation $limits closes the connection: $closes', (row) => {
    const { context } = request();
    let closed = false;
    Object.assign(context.exchange, { protocol: row.protocol, closeConnectionAfter: () => (closed = true) });
    const guard = {
      authenticate: (): boolean => {
        context.user = { name: 'u', groups: row.groups };
        return true;
      },
    };
    const options = { guard, onFailure: () => {}, auditing: undefined, metrics: { authenticated: () => {} }, limitsHttp2: row.limits };
    void withAuthentication(options)(ok)(context);
    expect(closed).toBe(row.closes);
  });

  it('WaitGroup does not count requests that threw', async () => {
    const group = new WaitGroup();
    const { context } = request();
    expect(() =>
      withWaitGroup(group)(() => {
        throw newForbidden({ group: '', resource: 'pods' }, 'p', 'no');
      })(context),
    ).toThrow(/forbidden/);
    expect(group.size).toBe(0);
  });

  it.each([
    { name: 'successful', end: () => Promise.resolve() },
    { name: 'rejected', end: () => Promise.reject(new TypeError('bug')) },
  ])('WaitGroup waits for a request that is $name', async ({ end }) => {
    const group = new WaitGroup();
    const { context } = request();
    const waiting = withPanicRecovery(() => {})(withWaitGroup(group)(() => nextTurn().then(end)));
    const done = waiting(context);
    expect(group.size).toBe(1);
    await Promise.all([done, group.empty()]);
    expect(group.size).toBe(0);
  });
});

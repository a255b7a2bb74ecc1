import { expect, test, vi } from 'vitest';
import { startTestCluster } from '#testing/index';

interface Trace {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly user: { readonly name: string };
  readonly steps: readonly { readonly stage: string; readonly name: string; readonly verdict: string }[];
}

test('the traces of writes include the reconciles that sent requests, with their triggers', async () => {
  await using cluster = await startTestCluster({ controllers: ['serviceaccount-controller'], flags: ['--request-traces=100'] });
  await cluster.fetch('/api/v1/namespaces', { body: { metadata: { name: 'a' } } });
  const reconcile = await vi.waitFor(async () => {
    const { traces } = (await (await cluster.fetch('/debug/traces')).json()) as { traces: Trace[] };
    const found = traces.filter(({ method, url }) => method === 'RECONCILE' && url === 'serviceaccount-controller a');
    expect(found).toHaveLength(1);
    return found[0] as Trace;
  });
  expect(reconcile).toMatchObject({
    status: 200,
    user: { name: 'system:serviceaccount:kube-system:service-account-controller' },
    steps: [
      { stage: 'trigger', name: 'ADDED namespaces a', verdict: 'queued' },
      { stage: 'request', name: 'POST /api/v1/namespaces/a/serviceaccounts', verdict: '201' },
    ],
  });
  const text = await (await cluster.fetch('/debug/traces?output=text')).text();
  expect(text).toMatch(
    /RECONCILE serviceaccount-controller a by system:serviceaccount:kube-system:service-account-controller: 200\n├─ Triggers\n/,
  );
});

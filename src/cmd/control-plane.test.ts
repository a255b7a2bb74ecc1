import { describe, expect, test } from 'vitest';
import { startTestCluster } from '#testing/start-test-cluster';

describe('smoke', () => {
  test('starts', async () => {
    const t = performance.now();
    await using cluster = await startTestCluster({});
    console.log('start', performance.now() - t);
    const svc = await (await cluster.fetch('/api/v1/services')).json();
    console.log(JSON.stringify(svc, null, 1));
    console.log(JSON.stringify(await (await cluster.fetch('/apis/networking.k8s.io/v1/servicecidrs')).json(), null, 1));
    console.log(await (await cluster.fetch('/livez?verbose')).text());
    const t2 = performance.now();
    await using c2 = await startTestCluster({});
    console.log('start', performance.now() - t2);
    expect(c2).toBeTruthy();
  });
});

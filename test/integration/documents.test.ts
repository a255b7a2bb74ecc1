import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

// As the real server has it. Clients that are made of the OpenAPI documents ask with the slash.
it.each([
  ['/version', 200],
  ['/version/', 200],
  ['/api', 200],
  ['/api/', 200],
  ['/apis', 200],
  ['/apis/', 200],
  ['/apis/apps/', 200],
  ['/apis/apps/v1/', 200],
  ['/healthz', 200],
  ['/healthz/', 404],
  ['/readyz/', 404],
  ['/livez/', 404],
  ['/openapi/v2/', 404],
  ['/openapi/v3/', 404],
  ['/metrics/', 404],
])('%s answers %i', async (path, status) => {
  expect((await cluster.fetch(path)).status).toBe(status);
});

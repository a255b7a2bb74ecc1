/** Tests which endpoints support Tables. kube-apiserver v1.36.3 answers unsupported ones with 406 before anything else. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

const core = '/api/v1/namespaces/default';

it.each([
  ['POST', '/apis/authentication.k8s.io/v1/tokenreviews'],
  ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews'],
  ['POST', '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews'],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'],
  ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews'],
  ['POST', `${core}/bindings`],
  ['POST', `${core}/pods/nope/binding`],
  ['POST', `${core}/pods/nope/eviction`],
  ['GET', `${core}/pods/nope/ephemeralcontainers`],
  ['GET', `${core}/pods/nope/resize`],
  ['POST', `${core}/serviceaccounts/nope/token`],
  ['PUT', '/api/v1/namespaces/nope/finalize'],
  ['GET', '/apis/apiregistration.k8s.io/v1/apiservices/nope/status'],
  ['GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nope/status'],
  ['GET', '/apis/certificates.k8s.io/v1/certificatesigningrequests/nope/approval'],
  ['GET', '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/nope/status'],
])('%s %s does not support Tables', async (method, path) => {
  const answer = async (accept: string): Promise<number> =>
    (await cluster.fetch(path, { method, headers: { accept }, ...(method !== 'GET' && { body: {} }) })).status;
  expect(await answer('application/json;as=Table;v=v1;g=meta.k8s.io')).toBe(406);
  // A client that also accepts the object gets the object.
  expect(await answer('application/json;as=Table;v=v1;g=meta.k8s.io,application/json')).not.toBe(406);
});

it.each([
  `${core}/pods`,
  '/api/v1/componentstatuses',
  `${core}/pods/nope/status`,
  '/apis/apps/v1/namespaces/default/deployments/nope/scale',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests/nope/status',
])('%s supports Tables', async (path) => {
  const { status } = await cluster.fetch(path, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  expect([200, 404]).toContain(status);
});

import { Body, Controller, Module, Post, UseGuards, UseInterceptors } from '@nestjs/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { Attributes } from '#apiserver/admission/attributes';
import { forbidden } from '#apiserver/admission/forbidden';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { OnResource } from '#apiserver/request/on-resource';
import { pages } from '#apiserver/plugins/pages';
import type { KubeObject } from '#apimachinery/meta/types';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

@AdmissionPlugin({ name: 'Stamp', match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })
class Stamp {
  admit({ object }: Attributes<ConfigMap>): void {
    object.data = { ...object.data, stamp: 'yes' };
  }

  validate(request: Attributes<ConfigMap>): void {
    if (request.object.data?.['color'] === 'red') throw forbidden(request, 'red is not allowed');
  }
}

@Controller('shop')
@UseGuards(AuthenticationGuard, AuthorizationGuard)
class ShopController {
  @Post('namespaces/:namespace/orders')
  @OnResource({ ...configMaps, operation: 'CREATE' })
  @UseInterceptors(AdmissionInterceptor)
  order(@Body() body: ConfigMap): ConfigMap {
    return body;
  }

  @Post('unmarked')
  @UseInterceptors(AdmissionInterceptor)
  unmarked(): string {
    return 'served';
  }
}

@Module({ controllers: [ShopController] })
class ShopModule {}

/** All users may call the pages; the right to create ConfigMaps is separate. */
const pageRights = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'shop' },
    rules: [{ verbs: ['post'], nonResourceURLs: ['/shop/*'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'shop' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'shop' },
    subjects: ['system:authenticated', 'system:unauthenticated'].map((name) => ({
      kind: 'Group',
      apiGroup: 'rbac.authorization.k8s.io',
      name,
    })),
  },
];

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({
    users: [{ name: 'eve' }],
    objects: pageRights,
    plugins: [pages({ name: 'Shop', module: ShopModule }), Stamp],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

async function ask(path: string, data: Record<string, string>, as: string | null): Promise<{ code: number; answer: ConfigMap }> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data };
  const response = await cluster.fetch(path, { method: 'POST', body, as });
  return { code: response.status, answer: (await response.json()) as ConfigMap };
}

it.each([
  { name: 'refuses a user without rights on the resource', data: {}, as: 'eve', code: 403 },
  { name: 'refuses an anonymous client', data: {}, as: null, code: 403 },
  { name: 'denies what a validating plugin denies', data: { color: 'red' }, as: 'admin', code: 403 },
  { name: 'refuses objects in a namespace that does not exist', data: {}, as: 'admin', namespace: 'none', code: 404 },
])('a guarded controller $name, with the Status of the endpoint', async ({ data, as, code, namespace = 'default' }) => {
  const endpoint = await ask(`/api/v1/namespaces/${namespace}/configmaps`, data, as);
  const controller = await ask(`/shop/namespaces/${namespace}/orders`, data, as);
  expect(endpoint.code).toBe(code);
  expect(controller).toEqual(endpoint);
});

it.each([
  { name: 'without metadata', body: { data: {} } },
  { name: 'that is a list', body: [] },
  { name: 'of another namespace', body: { metadata: { name: 'a', namespace: 'kube-system' } } },
])('refuses a body $name before admission', async ({ body }) => {
  expect((await cluster.fetch('/shop/namespaces/default/orders', { method: 'POST', body })).status).toBe(400);
});

it('a controller gets the body as mutating plugins have left it', async () => {
  const controller = await ask('/shop/namespaces/default/orders', { color: 'blue' }, 'admin');
  const endpoint = await ask('/api/v1/namespaces/default/configmaps', { color: 'blue' }, 'admin');
  expect(controller).toMatchObject({ code: 201, answer: { data: { color: 'blue', stamp: 'yes' } } });
  expect(controller.answer.data).toEqual(endpoint.answer.data);
});

it('a token that no authenticator knows is Unauthorized on both', async () => {
  const headers = { authorization: 'Bearer wrong' };
  for (const path of ['/api/v1/namespaces/default/configmaps', '/shop/namespaces/default/orders'])
    expect((await cluster.fetch(path, { method: 'POST', body: {}, as: null, headers })).status).toBe(401);
});

it('a method with the interceptor but without a resource is not served', async () => {
  expect((await cluster.fetch('/shop/unmarked', { method: 'POST', body: {} })).status).toBe(500);
});

import { describe, expect, it } from 'vitest';
import type { EndpointHandler, ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import { respondText } from '#apiserver/endpoints/handlers/responses';
import type { GroupVersionEndpoints, InstalledEndpoint } from '#apiserver/endpoints/installed-endpoint';
import { PathMux } from '#apiserver/endpoints/path-mux';
import { parseQuery } from '#apiserver/request/query';
import { RequestContext } from '#apiserver/request/request-context';
import { parseRequestInfo } from '#apiserver/request/request-info';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import type { DelegationTarget } from './delegation.ts';
import { Director } from './director.ts';

/** An endpoint whose handlers respond with its name and the verb. */
function endpoint(
  name: string,
  { namespaced = true, verbs = ['get', 'list', 'create', 'update'], custom = false } = {},
): InstalledEndpoint {
  const handler =
    (verb: string): EndpointHandler =>
    (context) =>
      respondText(context, 200, `${name} ${verb}`);
  const definition = { group: '', version: 'v1', resource: name, custom: custom ? {} : undefined };
  return {
    endpoint: { definition, restrictions: { mediaTypes: ['application/json'] } } as unknown as ResourceEndpoint,
    namespaced,
    verbs: new Map(verbs.map((verb) => [verb, handler(verb)])),
  };
}

function target(groupVersions: Readonly<Record<string, readonly InstalledEndpoint[]>>, isDynamic = false): DelegationTarget {
  const byResource = (all: readonly InstalledEndpoint[]): GroupVersionEndpoints =>
    new Map(all.map((one) => [one.endpoint.definition.resource, one]));
  return { name: 'target', isDynamic, endpoints: new Map(Object.entries(groupVersions).map(([name, all]) => [name, byResource(all)])) };
}

function directorOf(...chain: readonly DelegationTarget[]) {
  const mux = new PathMux();
  mux.handle('/version', (context) => respondText(context, 200, 'the version'));
  const incomplete = new WeakSet<RequestContext>();
  const director = new Director(mux, incomplete);
  director.compile(chain);
  const ask = async (method: string, url: string, isIncomplete = false): Promise<string> => {
    const exchange = new InProcessExchange({ method, url, headers: {}, body: undefined });
    const [path = '', query = ''] = url.split('?');
    const info = parseRequestInfo(method, path, () => parseQuery(query));
    const context = new RequestContext(exchange, path, query, info);
    if (isIncomplete) incomplete.add(context);
    void director.serve(context);
    const response = await exchange.response;
    const text = await response.text();
    const message = text.startsWith('{') ? (JSON.parse(text) as { message: string }).message : text.trim();
    return `${response.status} ${message}`;
  };
  return { director, ask };
}

const core = target({ '/v1': [endpoint('pods'), endpoint('nodes', { namespaced: false })], 'apps/v1': [endpoint('deployments')] });
const customs = target({ 'example.com/v1': [endpoint('widgets', { custom: true })] }, true);

describe('Director', () => {
  const { ask } = directorOf(core, customs);
  const pods = '/api/v1/namespaces/ns/pods';
  const widgets = '/apis/example.com/v1/namespaces/ns/widgets';

  it.each([
    ['GET', pods, '200 pods list'],
    ['GET', '/api/v1/pods', '200 pods list'],
    ['POST', pods, '200 pods create'],
    ['GET', `${pods}/a`, '200 pods get'],
    ['GET', '/api/v1/nodes/a', '200 nodes get'],
    ['GET', '/apis/apps/v1/deployments', '200 deployments list'],
    ['GET', `${widgets}/a`, '200 widgets get'],
    ['PUT', `${widgets}/a`, '200 widgets update'],
    ['GET', '/version', '200 the version'],
  ])('routes %s %s', async (method, url, want) => {
    expect(await ask(method, url)).toBe(want);
  });

  it.each([
    ['a verb that the resource has not', 'DELETE', `${pods}/a`, '405 the server does not allow this method on the requested resource'],
    ['an unknown resource of an own group', 'GET', '/api/v1/namespaces/ns/pots', '404 the server could not find the requested resource'],
    ['an unknown group', 'GET', '/apis/none.example.com/v1/pots', '404 404 page not found'],
    ['an unknown path', 'GET', '/none', '404 404 page not found'],
    [
      'a cluster-scoped resource below a namespace',
      'GET',
      '/api/v1/namespaces/ns/nodes/a',
      '404 the server could not find the requested resource',
    ],
    ['a namespaced object without a namespace', 'GET', '/api/v1/pods/a', '404 the server could not find the requested resource'],
    ['an unknown custom resource', 'GET', '/apis/example.com/v1/namespaces/ns/gadgets', '404 404 page not found'],
    ['a subresource that a custom resource has not', 'GET', `${widgets}/a/status`, '404 widgets.example.com "a" not found'],
    ['an update of a custom resource without a name', 'PUT', widgets, '400 name must be provided'],
    [
      'a verb that a custom resource has not',
      'DELETE',
      `${widgets}/a`,
      '405 delete is not supported on resources of kind "widgets.example.com"',
    ],
  ])('refuses %s', async (_, method, url, want) => {
    expect(await ask(method, url)).toBe(want);
  });

  it.each([['/apis/none.example.com/v1/pots'], ['/none']])('answers 503 for %s while paths are being installed', async (url) => {
    expect(await ask('GET', url, true)).toMatch(/^503 the request has been made before all known HTTP paths have been installed/);
    expect(await ask('GET', pods, true)).toBe('200 pods list');
  });

  it('lets the first server with a group version serve it', async () => {
    const { ask: request } = directorOf(core, target({ 'apps/v1': [endpoint('others')] }));
    expect(await request('GET', '/apis/apps/v1/deployments')).toBe('200 deployments list');
    expect(await request('GET', '/apis/apps/v1/others')).toBe('404 the server could not find the requested resource');
  });

  it('prefers the proxy of a group version', async () => {
    const { director, ask: request } = directorOf(core);
    director.proxied = new Map([['apps/v1', (context) => respondText(context, 200, 'proxied')]]);
    expect(await request('GET', '/apis/apps/v1/deployments')).toBe('200 proxied');
    expect(await request('GET', pods)).toBe('200 pods list');
  });

  it('responds with 500 if a handler throws or rejects', async () => {
    const failing = (handler: EndpointHandler): InstalledEndpoint => ({ ...endpoint('pods'), verbs: new Map([['list', handler]]) });
    const thrown = (): never => {
      throw new Error('broken');
    };
    for (const handler of [thrown, async () => thrown()]) {
      const { ask: request } = directorOf(target({ '/v1': [failing(handler)] }));
      expect(await request('GET', '/api/v1/pods')).toMatch(/^500 .*broken/);
    }
  });
});

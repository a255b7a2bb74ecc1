import { describe, expect, it } from 'vitest';
import { atOnce } from '#apimachinery/runtime/steps';
import { noParameters, parseQuery } from './query.ts';
import { parseRequestInfo, RequestInfoError, selectedName } from './request-info.ts';

const rows: readonly { readonly name: string; readonly request: string; readonly want: object }[] = [
  {
    name: 'a list',
    request: 'GET /api/v1/namespaces/ns/pods',
    want: { isResourceRequest: true, verb: 'list', apiGroup: '', apiVersion: 'v1', namespace: 'ns', resource: 'pods', name: '' },
  },
  { name: 'a list of all namespaces', request: 'GET /api/v1/pods', want: { verb: 'list', namespace: '', resource: 'pods' } },
  { name: 'a watch by query', request: 'GET /api/v1/pods?watch', want: { verb: 'watch' } },
  { name: 'no watch', request: 'GET /api/v1/pods?watch=false', want: { verb: 'list' } },
  {
    name: 'a deprecated watch',
    request: 'GET /api/v1/watch/namespaces/ns/pods/p',
    want: { verb: 'watch', namespace: 'ns', resource: 'pods', name: 'p', subresource: '' },
  },
  {
    name: 'one object',
    request: 'GET /apis/apps/v1/namespaces/ns/deployments/d',
    want: { verb: 'get', apiGroup: 'apps', namespace: 'ns', resource: 'deployments', name: 'd' },
  },
  {
    name: 'a subresource',
    request: 'PUT /apis/apps/v1/namespaces/ns/deployments/d/status',
    want: { verb: 'update', subresource: 'status', name: 'd' },
  },
  { name: 'a namespace', request: 'GET /api/v1/namespaces/ns', want: { verb: 'get', namespace: 'ns', resource: 'namespaces', name: 'ns' } },
  {
    name: "a namespace's own subresource",
    request: 'PUT /api/v1/namespaces/ns/finalize',
    want: { resource: 'namespaces', name: 'ns', namespace: 'ns', subresource: 'finalize' },
  },
  { name: 'the namespaces', request: 'GET /api/v1/namespaces', want: { verb: 'list', resource: 'namespaces', namespace: '' } },
  { name: 'a create', request: 'POST /api/v1/namespaces/ns/pods', want: { verb: 'create', resource: 'pods' } },
  { name: 'the deletion of a collection', request: 'DELETE /api/v1/namespaces/ns/pods', want: { verb: 'deletecollection' } },
  {
    name: 'a name by field selector',
    request: 'GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dp',
    want: { verb: 'list', name: 'p' },
  },
  {
    name: 'a name by one of several terms',
    request: 'GET /api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn,metadata.name%3Dp',
    want: { verb: 'watch', name: 'p' },
  },
  {
    name: 'a selector that names no path segment',
    request: 'GET /api/v1/pods?fieldSelector=metadata.name%3D..',
    want: { verb: 'list', name: '' },
  },
  {
    name: 'an invalid option beside a selector',
    request: 'GET /api/v1/pods?limit=x&fieldSelector=metadata.name%3Dp',
    want: { verb: 'list', name: '' },
  },
  {
    name: 'a selector of a deleted collection',
    request: 'DELETE /api/v1/pods?fieldSelector=metadata.name%3Dp',
    want: { verb: 'deletecollection', name: '' },
  },
  { name: 'a group version', request: 'GET /apis/apps/v1', want: { isResourceRequest: false, verb: 'get' } },
  { name: 'another path', request: 'POST /healthz', want: { isResourceRequest: false, verb: 'post' } },
];

describe('parseRequestInfo', () => {
  it.each(rows)('reads $name', ({ request, want }) => {
    const [method = '', url = ''] = request.split(' ');
    const [path = '', query = ''] = url.split('?');
    const parameters = (): URLSearchParams => parseQuery(query);
    const info = parseRequestInfo(method, path, parameters);
    expect({ ...info, name: atOnce(selectedName(info, parameters)) || info.name }).toMatchObject(want);
  });

  it('rejects a watch without a resource', () => {
    expect(() => parseRequestInfo('GET', '/api/v1/watch', noParameters)).toThrow(RequestInfoError);
  });
});

import type { AuthorizationAttributes } from 'kubenest/sdk';

/** Attributes of jane's `get` of the pod `p` in the namespace `ns`, unless overridden. */
export function attributes(more: Partial<AuthorizationAttributes> = {}): AuthorizationAttributes {
  return {
    user: { name: 'jane', groups: [] },
    verb: 'get',
    isResourceRequest: true,
    apiGroup: '',
    apiVersion: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'ns',
    name: 'p',
    path: '',
    ...more,
  };
}

/** Attributes of a request for a path that is not a resource. */
export function pathAttributes(path: string, more: Partial<AuthorizationAttributes> = {}): AuthorizationAttributes {
  return attributes({ isResourceRequest: false, path, apiVersion: '', resource: '', namespace: '', name: '', ...more });
}

/** CEL environments of admission expressions. Upstream: apiserver/pkg/admission/plugin/cel/compile.go. */
import { newExpressionsEnvironment, storedExpressionsEnvironment } from '#apiserver/cel/base-environment';
import { dynType } from '#apiserver/cel/check/types';
import {
  boolDecl,
  type DeclType,
  dynDecl,
  intDecl,
  listDecl,
  mapDecl,
  objectOf,
  stringDecl,
  timestampDecl,
} from '#apiserver/cel/decl-type';
import type { Environment } from '#apiserver/cel/environment';
import { authorizerType, resourceCheckType } from '#apiserver/cel/library/authz';
import { jsonPatchLibrary } from '#apiserver/cel/library/json-patch';
import { patchTypes } from './patch-types.ts';

/** Variables in addition to object, oldObject, request and namespaceObject. */
export interface VariableOptions {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** True if expressions can construct `Object` and `JSONPatch`. */
  readonly patchTypes?: boolean;
}

/** Origin of an expression. `new`: a request. `stored`: a stored object, which may use functions of later versions. */
export type ExpressionAge = 'new' | 'stored';

const texts = listDecl(stringDecl);

function kindDecl(name: string, last: string): DeclType {
  return objectOf(name, { group: stringDecl, version: stringDecl, [last]: stringDecl });
}

const userInfoDecl = objectOf('kubernetes.UserInfo', {
  username: stringDecl,
  uid: stringDecl,
  groups: texts,
  extra: mapDecl(stringDecl, texts),
});
const kind = kindDecl('kubernetes.GroupVersionKind', 'kind');
const resource = kindDecl('kubernetes.GroupVersionResource', 'resource');

/** Type of the variable `request`. */
export const requestDecl = objectOf('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: stringDecl,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: stringDecl,
  name: stringDecl,
  namespace: stringDecl,
  operation: stringDecl,
  userInfo: userInfoDecl,
  dryRun: boolDecl,
  options: dynDecl,
});

const namespaceCondition = objectOf('kubernetes.NamespaceCondition', {
  status: stringDecl,
  type: stringDecl,
  lastTransitionTime: timestampDecl,
  message: stringDecl,
  reason: stringDecl,
});
const namespaceMetadata = objectOf('kubernetes.NamespaceMetadata', {
  name: stringDecl,
  generateName: stringDecl,
  namespace: stringDecl,
  labels: mapDecl(stringDecl, stringDecl),
  annotations: mapDecl(stringDecl, stringDecl),
  UID: stringDecl,
  creationTimestamp: timestampDecl,
  deletionGracePeriodSeconds: intDecl,
  deletionTimestamp: timestampDecl,
  generation: intDecl,
  resourceVersion: stringDecl,
  finalizers: texts,
});

/** Type of the variable `namespaceObject`. */
export const namespaceDecl = objectOf('kubernetes.Namespace', {
  metadata: namespaceMetadata,
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: texts }),
  status: objectOf('kubernetes.NamespaceStatus', { conditions: listDecl(namespaceCondition), phase: stringDecl }),
});

const environments = new Map<string, Environment>();

/** Returns the environment for a choice of variables, cached. */
export function admissionEnvironment(options: VariableOptions, age: ExpressionAge): Environment {
  const key = `${age} ${options.params} ${options.authorizer} ${options.patchTypes}`;
  let environment = environments.get(key);
  if (!environment) {
    environment = build(options, age === 'new' ? newExpressionsEnvironment : storedExpressionsEnvironment);
    environments.set(key, environment);
  }
  return environment;
}

function build(options: VariableOptions, base: Environment): Environment {
  return base.extend(
    {
      variables: { object: dynType, oldObject: dynType, namespaceObject: namespaceDecl.celType, request: requestDecl.celType },
      declTypes: [namespaceDecl, requestDecl],
    },
    options.params ? { variables: { params: dynType } } : {},
    options.authorizer ? { variables: { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType } } : {},
    options.patchTypes ? { ...jsonPatchLibrary, structs: patchTypes } : {},
  );
}

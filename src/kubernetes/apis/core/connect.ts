import { newBadRequest } from '#apimachinery/api/errors';
import { groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import type { AdmissionCall } from '#apiserver/request/admission-context';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/request/request-context';

/**
 * Runs admission for a connect request; the reviewed object is the options in the query. Every connect handler calls it first. Throws
 * BadRequest for a dry run. Upstream: endpoints/handlers/rest.go (ConnectResource).
 */
export async function admitConnect(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (context.searchParams.has('dryRun')) throw newBadRequest('dryRun is not supported');
  const { admission, info } = context;
  if (!admission) return;
  const object = { kind: endpoint.kind.kind, apiVersion: groupVersionString(endpoint.kind), metadata: {}, ...options } as KubeObject;
  const call: AdmissionCall = {
    operation: 'CONNECT',
    namespace: info.namespace,
    name: info.name,
    object,
    oldObject: undefined,
    options: {},
    dryRun: false,
  };
  await admission.admit(call);
  await admission.validate(call);
}

import { groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import type { AdmissionCall } from '#apiserver/admission/request-admission';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';

/** Asks admission about a connection; its object are the options that the query gives. */
export async function admitConnect(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
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

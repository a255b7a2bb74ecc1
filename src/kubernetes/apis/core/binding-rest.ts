import { Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { newBadRequest, newConflict, newNotFound, newStatus, StatusError } from '#apimachinery/api/errors';
import { deepCopy } from '#apimachinery/runtime/copy';
import { aggregate } from '#apimachinery/validation/field';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { readCreate, respondCreated } from '#apiserver/endpoints/handlers/create-request';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/request/request-context';
import { invalidObjectText, type Store } from '#apiserver/registry/store';
import type { WriteRequest } from '#apiserver/registry/write';
import { Stores } from '#apiserver/registry/stores';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import type { Binding, Pod } from '#kubernetes/schema/core_v1.gen';
import { updatePodCondition } from './pod-condition.ts';
import { validatePodBinding } from './validation/pod.ts';

/**
 * Binds a pod to a node: `pods/binding`, which schedulers use, and the older `bindings`. Upstream: kubernetes/pkg/registry/core/pod/storage
 * (BindingREST).
 */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class BindingHandler {
  constructor(@Inject(Stores) private readonly stores: Stores) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const isSubresource = endpoint.subresource !== '';
    const { object: binding, request, negotiated } = await readCreate<Binding>(context, endpoint, { keepsSystemFields: isSubresource });
    const name = binding.metadata.name ?? '';
    if (isSubresource && name !== context.info.name) throw newBadRequest('name in URL does not match name in Binding object');
    const errors = validatePodBinding(binding);
    if (errors.length > 0) throw new StatusError(newStatus(500, '', aggregate(errors)));
    await request.validate('CREATE', binding, undefined);
    await assignPod(this.stores.of({ group: '', resource: 'pods' }), request, binding, name);
    respondCreated(context, negotiated);
  }
}

async function assignPod(store: Store, request: WriteRequest, { metadata, target }: Binding, name: string): Promise<void> {
  // Only the binding goes through admission; the write of the pod does not.
  const own: WriteRequest = { ...request, admit: () => {}, validate: () => {} };
  await store.update(
    own,
    name,
    (existing) => {
      if (!existing) throw newNotFound(store.groupResource, name);
      checkPreconditions(store, request, existing as Pod, metadata);
      const pod = deepCopy(existing) as Pod;
      const problem = whyUnassignable(pod);
      if (problem) throw newConflict({ group: '', resource: 'pods/binding' }, name, problem);
      pod.spec = { ...pod.spec, nodeName: target?.name ?? '' };
      if (pod.status && !isOptedOut(request, 'ClearingNominatedNodeNameAfterBinding')) delete pod.status.nominatedNodeName;
      pod.metadata.annotations = merged(pod.metadata.annotations, metadata.annotations);
      if (metadata.labels) pod.metadata.labels = merged(pod.metadata.labels, metadata.labels);
      updatePodCondition(pod, { type: 'PodScheduled', status: 'True' });
      return pod;
    },
    { strategy: {} },
  );
}

function checkPreconditions(
  store: Store,
  { namespace, dryRun }: WriteRequest,
  { metadata: pod }: Pod,
  { uid, resourceVersion }: Binding['metadata'],
): void {
  const fail = (what: string, wanted: string, found = ''): never => {
    const detail = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
    const name = pod.name ?? '';
    throw newConflict(store.groupResource, name, invalidObjectText(store.key(namespace, name), detail, dryRun));
  };
  if (uid && uid !== pod.uid) fail('UID', uid, pod.uid);
  if (resourceVersion && resourceVersion !== pod.resourceVersion) fail('ResourceVersion', resourceVersion, pod.resourceVersion);
}

function whyUnassignable({ metadata, spec }: Pod): string | undefined {
  if (metadata.deletionTimestamp) return `pod ${metadata.name} is being deleted, cannot be assigned to a host`;
  if (spec?.nodeName) return `pod ${metadata.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`;
  if (spec?.schedulingGates?.length) return `pod ${metadata.name} has non-empty .spec.schedulingGates`;
  return undefined;
}

function merged(old: Record<string, string> = {}, more: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries([...Object.entries(old), ...Object.entries(more)]);
}

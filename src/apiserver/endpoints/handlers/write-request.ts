import { managerOrUserAgent } from '#apimachinery/managedfields/manager-name';
import { validateManagedFields } from '#apimachinery/managedfields/managers';
import type { DeleteOptions, KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import { type Pace, paceOf } from '#apimachinery/runtime/pace';
import { now } from '#apimachinery/runtime/time';
import type { AdmissionCall } from '#apiserver/request/admission-context';
import { headerText } from '#apiserver/request/exchange';
import type { RequestContext } from '#apiserver/request/request-context';
import type { WriteRequest } from '#apiserver/registry/write';
import { managingFields } from './managing-fields.ts';
import type { WriteQuery } from './query-options.ts';
import { dedupOwnerReferences } from './owner-references.ts';
import { fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';

/** Returns the store's view of a create, update or patch. An apply tracks managed fields itself. */
export function newWriteRequest(context: RequestContext, endpoint: ResourceEndpoint, options: WriteQuery, bodyBytes: number): WriteRequest {
  const manager = options.isApply ? undefined : managerOrUserAgent(options.fieldManager, headerText(context.header('user-agent') ?? ''));
  return newRequest(context, endpoint, { ...options, manager, bodyBytes });
}

export function newDeleteRequest(context: RequestContext, endpoint: ResourceEndpoint, options: DeleteOptions): WriteRequest {
  const dryRun = (options.dryRun?.length ?? 0) > 0;
  const given = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options };
  return newRequest(context, endpoint, { dryRun, given, isApply: false, manager: undefined, bodyBytes: 0 });
}

interface RequestedWrite extends Pick<WriteQuery, 'dryRun' | 'given' | 'isApply'> {
  /** Field manager of the written fields; undefined if they are not tracked here. */
  readonly manager: string | undefined;
  readonly bodyBytes: number;
}

/** Returns a write request that calls admission at upstream's two points. */
function newRequest(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  { dryRun, given: options, isApply, manager, bodyBytes }: RequestedWrite,
): WriteRequest {
  const { namespace, name, verb, apiVersion } = context.info;
  const { admission } = context;
  const call = (
    operation: AdmissionCall['operation'],
    object: KubeObject | undefined,
    oldObject: KubeObject | undefined,
    pace: Pace,
  ): AdmissionCall => ({
    operation,
    namespace: endpoint.definition.namespaced ? namespace : endpoint.definition.isNamespace ? (object?.metadata.name ?? name) : '',
    name: object?.metadata.name ?? name,
    object,
    oldObject,
    options: optionsOf(options, operation),
    dryRun,
    pace,
  });
  const ofBody = paceOf(bodyBytes);
  return {
    namespace: endpoint.definition.namespaced ? namespace : '',
    user: context.authenticatedUser,
    dryRun,
    bodyBytes,
    deadline: context.deadline,
    verb,
    apiVersion,
    isApply,
    now: now(),
    isEnabled: endpoint.isEnabled,
    capabilities: endpoint.capabilities,
    span: context.span,
    warn: (text) => context.warn(text),
    admit(operation, object, old, pace = ofBody) {
      const admit = (): void | Promise<void> => {
        const { managedFields } = object.metadata;
        const check = (): void => checkMutated(context, object, managedFields);
        const admitted = admission?.admit(call(operation, object, old, pace));
        return admitted ? admitted.then(check) : check();
      };
      if (manager === undefined) return admit();
      const tracked = trackFields(endpoint, object, old, manager, pace);
      return tracked ? tracked.then(admit) : admit();
    },
    validate(operation, object, old, pace = ofBody) {
      const asked = call(operation, object, old, pace);
      if (operation !== 'DELETE') return admission?.validate(asked);
      // A deletion runs both phases at one point: mutating plugins see the object but cannot change it.
      const admitted = admission?.admit(asked);
      return admitted ? admitted.then(() => admission?.validate(asked)) : admission?.validate(asked);
    },
  };
}

/**
 * Returns the options for admission. A patch has the options of a create or an update. Upstream: handlers/patch.go
 * (patchToUpdateOptions, patchToCreateOptions), update.go.
 */
function optionsOf(given: WriteQuery['given'], operation: AdmissionCall['operation']): WriteQuery['given'] {
  const kind = operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions';
  if (operation === 'DELETE' || given['kind'] === kind) return given;
  const { force: _, ...options } = given;
  return { ...options, kind };
}

/** Corrects invalid metadata after mutating admission, with a warning. Upstream: handlers/fieldmanager/admission.go, create.go. */
function checkMutated(context: RequestContext, object: KubeObject, managedFields: ObjectMeta['managedFields']): void {
  const { metadata } = object;
  if (metadata.managedFields !== managedFields) {
    try {
      validateManagedFields(metadata.managedFields);
    } catch (error) {
      if (managedFields) metadata.managedFields = managedFields;
      else delete metadata.managedFields;
      context.warn(
        `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${(error as Error).message}`,
      );
    }
  }
  dedupOwnerReferences(context, object, true);
}

/** Updates managedFields in the written version. Changes `object`, which is in the storage version. */
function trackFields(
  endpoint: ResourceEndpoint,
  object: KubeObject,
  old: KubeObject | undefined,
  manager: string,
  pace: Pace,
): void | Promise<void> {
  const how = [old && fromStorage(endpoint, old), fromStorage(endpoint, object), manager] as const;
  const take = ({ metadata: { managedFields } }: KubeObject): void => {
    if (managedFields) object.metadata.managedFields = managedFields;
    else delete object.metadata.managedFields;
  };
  const { fieldManager, converter } = endpoint;
  const tracked = managingFields(
    // Only managers of an older object may have written other versions.
    { fieldManager, converter: old && converter },
    pace,
    (manager) => manager.update(...how),
    (manager) => manager.updateSteps(...how),
  );
  return tracked instanceof Promise ? tracked.then(take) : take(tracked);
}

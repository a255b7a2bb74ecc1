import { Buffer } from 'node:buffer';
import { Injectable, UseInterceptors } from '@nestjs/common';
import { newBadRequest, newConflict, newInvalid, newNotFound, newUnsupportedMediaType } from '#apimachinery/api/errors';
import { labelSelectorAsSelector, type LabelSelectorSource, selectorFromSet } from '#apimachinery/labels/selector';
import { ScaleHandler, type ReplicasPaths } from '#apimachinery/managedfields/scale-handler';
import { groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/codec';
import { deepCopy } from '#apimachinery/runtime/copy';
import { type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateObjectMeta } from '#apimachinery/validation/object-meta';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { appliedReader } from '#apiserver/endpoints/handlers/apply';
import { type Negotiated, negotiate } from '#apiserver/endpoints/handlers/negotiation';
import { respondObject } from '#apiserver/endpoints/handlers/object-responses';
import { Patch, patchTypes, type PatchType } from '#apiserver/endpoints/handlers/patch';
import { parseWriteOptions, type WriteQuery } from '#apiserver/endpoints/handlers/query-options';
import { applyFieldValidation, decodeBody, inputMediaType } from '#apiserver/endpoints/handlers/request-body';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import { maxRequestBodyBytes } from '#apiserver/endpoints/handlers/responses';
import { ensureNameMatches, ensureNamespaceMatches, newWriteRequest } from '#apiserver/endpoints/handlers/write-request';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { WriteRequest } from '#apiserver/registry/store';
import type { Scale } from '#kubernetes/schema/autoscaling_v1.gen';

/** What the workloads that have a scale have in common. */
interface Workload extends KubeObject {
  spec?: { replicas?: number; selector?: unknown };
  status?: { replicas?: number };
}

const replicas = ['f:spec', 'f:replicas'];
/** Where the replicas are, in each version of each resource; the older ones may still own fields of old objects. */
const replicasPaths: Readonly<Record<string, ReplicasPaths>> = {
  '/replicationcontrollers': new Map([['v1', replicas]]),
  'apps/deployments': new Map([
    ['apps/v1beta1', replicas],
    ['apps/v1beta2', replicas],
    ['apps/v1', replicas],
  ]),
  'apps/replicasets': new Map([
    ['apps/v1beta2', replicas],
    ['apps/v1', replicas],
  ]),
  'apps/statefulsets': new Map([
    ['apps/v1beta1', replicas],
    ['apps/v1beta2', replicas],
    ['apps/v1', replicas],
  ]),
};

function scaleOf(endpoint: ResourceEndpoint, workload: Workload): Scale {
  const { metadata, spec, status } = workload;
  const isLabels = endpoint.definition.resource === 'replicationcontrollers';
  const selector = isLabels
    ? selectorFromSet(spec?.selector as Record<string, string> | undefined)
    : labelSelectorAsSelector(spec?.selector as LabelSelectorSource | undefined);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name: metadata.name ?? '',
      ...(metadata.namespace && { namespace: metadata.namespace }),
      ...(metadata.uid && { uid: metadata.uid }),
      ...(metadata.resourceVersion && { resourceVersion: metadata.resourceVersion }),
      ...(metadata.creationTimestamp && { creationTimestamp: metadata.creationTimestamp }),
    },
    spec: spec?.replicas ? { replicas: spec.replicas } : {},
    status: { replicas: status?.replicas ?? 0, ...(selector.toString() && { selector: selector.toString() }) },
  };
}

function respondScale(context: RequestContext, endpoint: ResourceEndpoint, workload: KubeObject, negotiated: Negotiated): void {
  respondObject(context, endpoint, 200, Buffer.from(`${encode(endpoint.type, scaleOf(endpoint, workload))}\n`), negotiated);
}

/** Upstream: kubernetes/pkg/apis/autoscaling/validation (ValidateScale). */
function validateScale({ metadata, spec }: Scale): FieldError[] {
  const errors = validateObjectMeta(metadata, { namespaced: true, nameFn: nameIsDNSSubdomain }, fieldPath('metadata'));
  const count = spec?.replicas ?? 0;
  if (count < 0) errors.push(invalid(fieldPath('spec', 'replicas'), count, 'must be greater than or equal to 0'));
  return errors;
}

/** Makes the new Scale of the present one. */
type Rescale = (scale: Scale) => Scale;

/** Writes the workload through its Scale. Upstream: scaleUpdatedObjectInfo of each workload's storage. */
async function writeScale(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  request: WriteRequest,
  rescale: Rescale,
): Promise<KubeObject> {
  const { definition, store } = endpoint;
  const { name } = context.info;
  const paths = replicasPaths[`${definition.group}/${definition.resource}`];
  if (!paths) throw new Error(`scale: ${definition.resource} have none`);
  const ofScales: WriteRequest = {
    ...request,
    validate: (operation, object, old) => request.validate(operation, object && scaleOf(endpoint, object), old && scaleOf(endpoint, old)),
  };
  const stored = await store.update(ofScales, name, async (existing) => {
    if (!existing) throw newNotFound(store.groupResource, name);
    const workload = deepCopy(existing) as Workload;
    const fields = new ScaleHandler(workload.metadata.managedFields, groupVersionString(definition), paths);
    const old = scaleOf(endpoint, workload);
    const owned = fields.toSubresource();
    if (owned) old.metadata.managedFields = owned;
    const scale = rescale(deepCopy(old));
    ensureNamespaceMatches(endpoint, context.info.namespace, scale);
    ensureNameMatches(name, scale);
    await request.admit('UPDATE', scale, old);
    const errors = validateScale(scale);
    if (errors.length > 0) throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, name, errors);
    if (scale.metadata.uid && scale.metadata.uid !== workload.metadata.uid) {
      const detail = `Precondition failed: UID in precondition: ${scale.metadata.uid}, UID in object meta: ${workload.metadata.uid}`;
      throw newConflict(
        store.groupResource,
        name,
        `StorageError: invalid object, Code: 4, Key: /registry${store.key(request.namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`,
      );
    }
    workload.spec = { ...workload.spec, replicas: scale.spec?.replicas ?? 0 };
    workload.metadata.resourceVersion = scale.metadata.resourceVersion ?? '';
    assignManagedFields(workload, fields.toParent(scale.metadata.managedFields));
    return workload;
  });
  return stored.object;
}

function assignManagedFields({ metadata }: KubeObject, entries: KubeObject['metadata']['managedFields']): void {
  if (entries) metadata.managedFields = entries;
  else delete metadata.managedFields;
}

/** GET of a workload's scale. */
@Injectable()
export class ScaleGetHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const { namespace, name } = context.info;
    const { object } = await endpoint.store.get(namespace, name, context.searchParams.get('resourceVersion') ?? '');
    respondScale(context, endpoint, object, negotiated);
  }
}

/** PUT of a workload's scale. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class ScaleUpdateHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const body = await context.exchange.readBody(maxRequestBodyBytes);
    const options = parseWriteOptions(context.query, 'UpdateOptions');
    const mediaType = inputMediaType(context);
    const { strictErrors } = decodeBody(body, mediaType, endpoint);
    applyFieldValidation(context, strictErrors, options.fieldValidation, endpoint);
    const request = newWriteRequest(context, endpoint, options);
    const read = (): Scale => {
      const { object } = decodeBody(body, mediaType, endpoint);
      ensureNamespaceMatches(endpoint, context.info.namespace, object);
      ensureNameMatches(context.info.name, object);
      return object as Scale;
    };
    read();
    respondScale(context, endpoint, await writeScale(context, endpoint, request, read), negotiated);
  }
}

/** PATCH of a workload's scale, by any kind of patch. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class ScalePatchHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const patchType = (context.header('content-type') ?? '').split(';', 1)[0]?.trim() as PatchType;
    if (!patchTypes.includes(patchType)) throw newUnsupportedMediaType(patchTypes);
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const body = await context.exchange.readBody(maxRequestBodyBytes);
    const applies = patchType === 'application/apply-patch+yaml';
    const options = parseWriteOptions(context.query, 'PatchOptions', applies);
    const request = newWriteRequest(context, endpoint, options);
    const rescale = applies ? applier(context, endpoint, body, options) : patcher(context, endpoint, patchType, body, options);
    respondScale(context, endpoint, await writeScale(context, endpoint, request, rescale), negotiated);
  }
}

function patcher(context: RequestContext, endpoint: ResourceEndpoint, type: PatchType, body: Buffer, options: WriteQuery): Rescale {
  // The workload's defaults are not those of its Scale.
  const { defaults: _, ...definition } = endpoint.definition;
  const patch = new Patch(context, { ...endpoint, definition }, type, body, options);
  return (scale) => patch.applyTo(scale) as Scale;
}

function applier(context: RequestContext, endpoint: ResourceEndpoint, body: Buffer, options: WriteQuery): Rescale {
  const readApplied = appliedReader(context, endpoint, body, options);
  return (scale) => {
    const applied = endpoint.fieldManager.apply(scale, readApplied(), options.fieldManager, options.force ?? false);
    if (applied && applied.kind !== 'Scale') throw newBadRequest(`expected input object type to be Scale, but ${applied.kind}`);
    return deepCopy(applied ?? scale) as Scale;
  };
}

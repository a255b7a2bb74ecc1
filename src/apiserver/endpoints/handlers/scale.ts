import type { Buffer } from 'node:buffer';
import { Injectable, UseInterceptors } from '@nestjs/common';
import { newBadRequest, newConflict, newInternalError, newInvalid, newNotFound, StatusError } from '#apimachinery/api/errors';
import { groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import { encodeLine } from '#apimachinery/runtime/encode';
import { ScaleHandler } from '#apimachinery/managedfields/scale-handler';
import { deepCopy, deepCopySteps } from '#apimachinery/runtime/copy';
import type { Pace } from '#apimachinery/runtime/pace';
import { quote } from '#apimachinery/runtime/quote';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { type AppliedBody, checkApplied, copyAt, readApplied } from './apply.ts';
import { type Negotiated, negotiate } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import { readPatch } from './object-patch.ts';
import { notePatch, type PatchInput } from './patch-content.ts';
import { appliedForm, isPatchType, patchTypeOf, unsupportedPatchType } from './patch-types.ts';
import { parseWriteOptions, type WriteQuery } from './query-options.ts';
import { decodeBody } from './decode-body.ts';
import { applyFieldValidation } from './field-validation.ts';
import { inputMediaType, readRequestBody } from './request-body.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { newWriteRequest } from './write-request.ts';
import { ensureNameMatches } from '#apiserver/registry/name-scope';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';
import { invalidObjectText } from '#apiserver/registry/store';
import type { RequestContext } from '#apiserver/request/request-context';
import type { Scale, ScaleBinding } from '#apiserver/registry/resource-definition';
import type { WriteRequest } from '#apiserver/registry/write';

/** Placeholder for missing replicas of objects that require them. Upstream: customresource/etcd.go (ScaleREST). */
const unsetReplicas = -2_147_483_648;

function bindingOf({ definition, subresource }: ResourceEndpoint): ScaleBinding {
  const binding = definition.subresources[subresource]?.scale;
  if (!binding) throw new Error(`no scale subresource of ${definition.resource}`);
  return binding;
}

function scaleOf(endpoint: ResourceEndpoint, object: KubeObject): Scale {
  const { metadata } = object;
  const binding = bindingOf(endpoint);
  const replicas = binding.specReplicas(object);
  const selector = binding.selector(object);
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
    spec: replicas ? { replicas } : {},
    status: { replicas: binding.statusReplicas(object), ...(selector && { selector }) },
  };
}

function respondScale(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  object: KubeObject,
  negotiated: Negotiated,
): void | Promise<void> {
  return respondObject(context, endpoint, 200, encodeLine(endpoint.type, scaleOf(endpoint, object)), negotiated);
}

/** Returns the new Scale from the current one, which it may change. A large body is processed in chunks. */
type Rescale = (scale: Scale, pace: Pace) => Scale | Promise<Scale>;

/** Updates an object through its Scale. Upstream: scaleUpdatedObjectInfo of each storage that has one. */
async function writeScale(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  request: WriteRequest,
  rescale: Rescale,
  isPatch: boolean,
): Promise<KubeObject> {
  const { definition, store } = endpoint;
  const { name } = context.info;
  const binding = bindingOf(endpoint);
  const ofScales: WriteRequest = {
    ...request,
    validate: (operation, object, old, pace) =>
      request.validate(operation, object && scaleOf(endpoint, object), old && scaleOf(endpoint, old), pace),
  };
  const stored = await store.update(ofScales, name, async (existing, pace) => {
    if (!existing) throw newNotFound(store.groupResource, name);
    const next = await copyAt(pace, existing);
    const fields = new ScaleHandler(next.metadata.managedFields, groupVersionString(definition), binding.replicasPaths);
    const old = scaleOf(endpoint, next);
    const isUnset = binding.requiredPath !== undefined && binding.specReplicas(next) === undefined;
    if (isUnset) old.spec = { replicas: unsetReplicas };
    const owned = fields.toSubresource();
    if (owned) old.metadata.managedFields = owned;
    const scale = await rescale(deepCopy(old), pace);
    ensureNamespaceMatches(endpoint.definition, context.info.namespace, scale);
    ensureNameMatches(name, scale);
    await request.admit('UPDATE', scale, old, pace);
    if (isUnset && scale.spec?.replicas === unsetReplicas)
      throw newBadRequest(`the spec replicas field ${quote(binding.requiredPath ?? '')} cannot be empty`);
    const errors = binding.validate?.(scale) ?? [];
    if (errors.length > 0) throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, name, errors);
    if (scale.metadata.uid && scale.metadata.uid !== next.metadata.uid)
      throw newUidConflict(endpoint, store.key(request.namespace, name), scale, next, { isPatch, dryRun: request.dryRun });
    binding.setReplicas(next, scale.spec?.replicas ?? 0);
    // Without a resourceVersion, custom resources keep the current one, because their updates must be conditional.
    if (scale.metadata.resourceVersion || !definition.custom) next.metadata.resourceVersion = scale.metadata.resourceVersion ?? '';
    assignManagedFields(next, fields.toParent(scale.metadata.managedFields));
    return next;
  });
  return stored.object;
}

/**
 * Returns the conflict of uids. The handler checks it for a patch, the storage for a PUT, with different messages. Upstream:
 * handlers/patch.go, storage/interfaces.go (Preconditions).
 */
function newUidConflict(
  { store, subresource }: ResourceEndpoint,
  key: string,
  scale: Scale,
  { metadata }: KubeObject,
  { isPatch, dryRun }: { readonly isPatch: boolean; readonly dryRun: boolean },
): Error {
  const { group, resource } = store.groupResource;
  const detail = `Precondition failed: UID in precondition: ${scale.metadata.uid}, UID in object meta: ${metadata.uid}`;
  if (isPatch) return newConflict({ group, resource: `${resource}/${subresource}` }, metadata.name ?? '', detail);
  return newConflict(store.groupResource, metadata.name ?? '', invalidObjectText(key, detail, dryRun));
}

function assignManagedFields({ metadata }: KubeObject, entries: KubeObject['metadata']['managedFields']): void {
  if (entries) metadata.managedFields = entries;
  else delete metadata.managedFields;
}

/** GET of an object's scale. */
@Injectable()
export class ScaleGetHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const { namespace, name } = context.info;
    const { object } = await endpoint.store.get(namespace, name, context.searchParams.get('resourceVersion') ?? '');
    const { requiredPath, specReplicas } = bindingOf(endpoint);
    if (requiredPath !== undefined && specReplicas(object) === undefined)
      throw newInternalError(new Error(`the spec replicas field ${quote(requiredPath)} does not exist`));
    return respondScale(context, endpoint, object, negotiated);
  }
}

/** Decodes the body. Upstream has one error for all bodies of a custom resource, whose scheme lacks the kind. */
async function decodeScale(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  body: Buffer,
  mediaType: Parameters<typeof decodeBody>[1],
  validation: Parameters<typeof applyFieldValidation>[2],
): Promise<KubeObject> {
  try {
    const decoded = await decodeBody(body, mediaType, endpoint, context.deadline);
    applyFieldValidation(context, decoded, validation, endpoint);
    return decoded.object;
  } catch (error) {
    if (!endpoint.definition.custom || !(error instanceof StatusError && error.status.code === 400)) throw error;
    throw newBadRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
}

/** PUT of an object's scale. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class ScaleUpdateHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const body = await readRequestBody(context);
    const options = parseWriteOptions(context.searchParams, 'UpdateOptions');
    const mediaType = inputMediaType(context, endpoint);
    const object = await decodeScale(context, endpoint, body, mediaType, options.fieldValidation);
    context.audit?.requestObject(object, endpoint.type);
    const request = newWriteRequest(context, endpoint, options, body.length);
    ensureNamespaceMatches(endpoint.definition, context.info.namespace, object);
    ensureNameMatches(context.info.name, object);
    const read: Rescale = (_scale, pace) => copyAt(pace, object) as Scale | Promise<Scale>;
    return respondScale(context, endpoint, await writeScale(context, endpoint, request, read, false), negotiated);
  }
}

/** PATCH of an object's scale, with any patch type. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class ScalePatchHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const patchType = patchTypeOf(context);
    if (!isPatchType(context, endpoint)) throw unsupportedPatchType(context, endpoint);
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const body = await readRequestBody(context);
    if (context.audit?.recordsRequest) await notePatch(context.audit, body);
    const form = appliedForm(patchType);
    const options = parseWriteOptions(context.searchParams, 'PatchOptions', form !== undefined);
    const { rescale, mostBytes } = form
      ? await applier(context, endpoint, { form, bytes: body }, options)
      : await patcher({ context, endpoint, type: patchType, body, options });
    const request = newWriteRequest(context, endpoint, options, mostBytes);
    return respondScale(context, endpoint, await writeScale(context, endpoint, request, rescale, true), negotiated);
  }
}

interface Rescaling {
  readonly rescale: Rescale;
  /** The size of the patch with what it may add to the Scale. */
  readonly mostBytes: number;
}

async function patcher(input: PatchInput): Promise<Rescaling> {
  // The defaults of the object do not apply to its Scale.
  const { defaults: _, defaultsSteps: _steps, ...definition } = input.endpoint.definition;
  const patch = await readPatch({ ...input, endpoint: { ...input.endpoint, definition } });
  return {
    rescale: (scale, pace) => pace.run(patch.toApply().applyTo(() => deepCopySteps<KubeObject>(scale), pace)) as Scale | Promise<Scale>,
    mostBytes: patch.mostBytes,
  };
}

async function applier(
  context: RequestContext,
  { fieldManager }: ResourceEndpoint,
  body: AppliedBody,
  options: WriteQuery,
): Promise<Rescaling> {
  const { configuration, strictErrors } = await readApplied(body);
  const rescale = async (scale: Scale, pace: Pace): Promise<Scale> => {
    const how = [scale, await copyAt(pace, configuration), options.fieldManager, options.force ?? false] as const;
    const applied = await pace.either(
      () => fieldManager.apply(...how),
      () => fieldManager.applySteps(...how),
    );
    checkApplied(context, strictErrors, options);
    if (applied && applied.kind !== 'Scale') throw newBadRequest(`expected input object type to be Scale, but ${applied.kind}`);
    return (await copyAt(pace, applied ?? scale)) as Scale;
  };
  return { rescale, mostBytes: body.bytes.length };
}

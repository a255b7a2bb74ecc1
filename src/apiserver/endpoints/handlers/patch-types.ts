import { newStatus, newUnsupportedMediaType, type StatusError } from '#apimachinery/api/errors';
import type { RequestContext } from '#apiserver/request/request-context';
import type { AppliedForm } from './apply.ts';
import { RouteError, servesCbor } from './negotiation.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';

/** Content types of patches. */
export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml'
  | 'application/apply-patch+cbor';
/** Patch types of built-in resources. */
const patchTypes: readonly PatchType[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
/** Patch types of custom resources, which have no merge keys and therefore no strategic merge patch. */
const customPatchTypes = patchTypes.filter((type) => type !== 'application/strategic-merge-patch+json');
const patchTypesWithCbor: readonly PatchType[] = [...patchTypes, 'application/apply-patch+cbor'];
const customPatchTypesWithCbor: readonly PatchType[] = [...customPatchTypes, 'application/apply-patch+cbor'];

/** Returns the patch types that an endpoint accepts. */
export function patchTypesOf({ definition, restrictions }: ResourceEndpoint): readonly PatchType[] {
  if (servesCbor(restrictions)) return definition.custom ? customPatchTypesWithCbor : patchTypesWithCbor;
  return definition.custom ? customPatchTypes : patchTypes;
}

/** Returns the encoding of an apply patch; undefined for other patches. */
export function appliedForm(type: PatchType): AppliedForm | undefined {
  if (type === 'application/apply-patch+yaml') return 'application/yaml';
  return type === 'application/apply-patch+cbor' ? 'application/cbor' : undefined;
}

/**
 * Returns the error of an unsupported patch type. For built-in resources upstream's router responds, with the status code only and
 * in the standard media types.
 */
export function unsupportedPatchType(context: RequestContext, endpoint: ResourceEndpoint): StatusError {
  if (endpoint.definition.custom) return newUnsupportedMediaType(patchTypesOf(endpoint));
  context.mediaTypes = undefined;
  context.measured = undefined;
  return new RouteError(newStatus(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}));
}

/** True if the endpoint takes patches of the request's content type. */
export function isPatchType(context: RequestContext, endpoint: ResourceEndpoint): boolean {
  return patchTypesOf(endpoint).includes(patchTypeOf(context));
}

/** Returns the content type without its parameters. */
export function patchTypeOf(context: RequestContext): PatchType {
  return (context.header('content-type') ?? '').split(';', 1)[0]?.trim() as PatchType;
}

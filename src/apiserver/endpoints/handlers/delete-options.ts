import { newInvalid } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { DeleteOptions, GroupVersionKind } from '#apimachinery/meta/types';
import type { RequestContext } from '#apiserver/request/request-context';
import { validateDeleteOptions } from '#apiserver/registry/deletion';
import { parseBoolean, parseInt64 } from '#apiserver/request/list-options';
import { decodeBody } from './decode-body.ts';
import { inputMediaType, readRequestBody } from './request-body.ts';
import { unsafeDeletionGate } from './unsafe-deletion.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';

const metaKind: GroupVersionKind = { group: 'meta.k8s.io', version: 'v1', kind: 'DeleteOptions' };

const internalVersion = 'meta.k8s.io/__internal';

/**
 * Reads DeleteOptions from the body, or without a body from the query. Throws BadRequest and Invalid. Upstream:
 * endpoints/handlers/delete.go.
 */
export async function readDeleteOptions(context: RequestContext, endpoint: ResourceEndpoint): Promise<DeleteOptions> {
  const body = await readRequestBody(context);
  const options = body.length > 0 ? await optionsOfBody(context, body, endpoint) : optionsOfQuery(context);
  if (!endpoint.isEnabled(unsafeDeletionGate)) delete options.ignoreStoreReadErrorWithClusterBreakingPotential;
  const errors = validateDeleteOptions(options);
  if (errors.length > 0) throw newInvalid({ group: metaKind.group, kind: metaKind.kind }, '', errors);
  return options;
}

/** Decodes DeleteOptions of meta.k8s.io/v1, v1 or any served group version. */
async function optionsOfBody(context: RequestContext, body: Buffer, endpoint: ResourceEndpoint): Promise<DeleteOptions> {
  const mediaType = inputMediaType(context, endpoint);
  const type = metaSchema.struct('meta_v1.DeleteOptions');
  const { object } = await decodeBody(body, mediaType, {
    kind: metaKind,
    type,
    kinds: endpoint.kinds,
    restrictions: endpoint.restrictions,
    returnsPlainErrors: true,
    alsoAccepts: (kind) => kind.kind === 'DeleteOptions',
  });
  // The audit records them as upstream does.
  context.audit?.requestObject({ ...object, apiVersion: internalVersion }, type);
  const { metadata: _, kind: __, apiVersion: ___, ...options } = object;
  return options as DeleteOptions;
}

function optionsOfQuery(context: RequestContext): DeleteOptions {
  if (context.query === '') return {};
  const parameters = context.searchParams;
  const options: DeleteOptions = {};
  const grace = parseInt64(parameters.get('gracePeriodSeconds'));
  if (grace !== undefined) options.gracePeriodSeconds = grace;
  const orphan = parseBoolean(parameters.get('orphanDependents'));
  if (orphan !== undefined) options.orphanDependents = orphan;
  const policy = parameters.get('propagationPolicy');
  if (policy !== null) options.propagationPolicy = policy;
  const ignored = parseBoolean(parameters.get('ignoreStoreReadErrorWithClusterBreakingPotential'));
  if (ignored !== undefined) options.ignoreStoreReadErrorWithClusterBreakingPotential = ignored;
  const dryRun = parameters.getAll('dryRun');
  if (dryRun.length > 0) options.dryRun = dryRun;
  const [uid, resourceVersion] = [parameters.get('uid') || undefined, parameters.get('resourceVersion') || undefined];
  if (uid !== undefined || resourceVersion !== undefined)
    options.preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
  return options;
}

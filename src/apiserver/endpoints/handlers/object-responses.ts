import { Buffer } from 'node:buffer';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject } from '#apimachinery/meta/types';
import { encodeLine } from '#apimachinery/runtime/encode';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import { betweenSteps, needsSteps } from '#apiserver/registry/between-steps';
import type { Negotiated } from './negotiation.ts';
import { encodePartial, newWrongPartial } from './partial.ts';
import { fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';
import { respondJson } from './responses.ts';
import { encodeTable, tableOptions } from './table.ts';

/** Answers one object, given by its stored JSON, in the endpoint's version and in the form that was negotiated. */
export function respondObject(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  status: number,
  stored: Buffer,
  negotiated: Negotiated,
): void | Promise<void> {
  const { span } = context;
  span?.event('About to write a response');
  const written = (): void => span?.event('Writing http response done');
  const responding = respondObjectIn(context, endpoint, status, stored, negotiated);
  return responding ? responding.then(written) : written();
}

function respondObjectIn(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  status: number,
  stored: Buffer,
  negotiated: Negotiated,
): void | Promise<void> {
  const { convert } = negotiated;
  if (!convert && !endpoint.conversion) return respondJson(context, status, stored, negotiated, endpoint.type);
  if (convert?.kind === 'PartialObjectMetadataList') throw newWrongPartial(endpoint, convert.kind, false);
  const { encoding } = endpoint.store;
  if (!needsSteps(stored.length)) return respondParsed(context, endpoint, status, encoding.parse(stored), negotiated);
  return encoding.parseInSteps(stored).then(async (object) => {
    await betweenSteps();
    if (!context.answered && !context.exchange.closed) respondParsed(context, endpoint, status, object, negotiated);
  });
}

/** Answers a stored object in another form than it is stored in. */
function respondParsed(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  status: number,
  object: KubeObject,
  negotiated: Negotiated,
): void {
  const { convert } = negotiated;
  if (convert?.kind === 'Table') {
    const metadata = { resourceVersion: object.metadata.resourceVersion ?? '' };
    const table = encodeTable(endpoint, [object], metadata, tableOptions(context), convert.version);
    return respondJson(context, status, Buffer.from(`${table}\n`), negotiated, metaSchema.struct('meta_v1.Table'));
  }
  const shown = fromStorage(endpoint, object);
  if (!convert) return respondJson(context, status, encodeLine(endpoint.type, shown), negotiated, endpoint.type);
  const partial = Buffer.from(`${encodePartial(shown, convert.version)}\n`);
  respondJson(context, status, partial, negotiated, metaSchema.struct('meta_v1.PartialObjectMetadata'));
}

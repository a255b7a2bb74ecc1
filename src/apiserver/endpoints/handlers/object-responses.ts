import { Buffer } from 'node:buffer';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { encodeLine } from '#apimachinery/runtime/encode';
import { paceOf } from '#apimachinery/runtime/pace';
import type { RequestContext } from '#apiserver/request/request-context';
import type { Negotiated } from './negotiation.ts';
import { newWrongPartial, partialBytes } from './partial.ts';
import { fromStorage, type ResourceEndpoint, type StoredObject } from './resource-endpoint.ts';
import { respondJson } from './responses.ts';
import { columnsOf, encodeRow, tableHead, tableOptions } from './table.ts';

const newline = Buffer.from('\n');
const tableEnd = Buffer.from(']}\n');

/** Sends one object, given as stored JSON, in the endpoint's version and the negotiated form. */
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
  const pace = paceOf(stored.length);
  const parsed = encoding.parseAt(pace, stored);
  if (!(parsed instanceof Promise)) return respondParsed(context, endpoint, status, { bytes: stored, object: parsed }, negotiated);
  return parsed.then(async (object) => {
    await pace.rest();
    if (!context.answered && !context.exchange.closed) respondParsed(context, endpoint, status, { bytes: stored, object }, negotiated);
  });
}

/** Sends a stored object in another form than the stored one. */
function respondParsed(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  status: number,
  stored: StoredObject,
  negotiated: Negotiated,
): void {
  const { object } = stored;
  const { convert } = negotiated;
  if (convert?.kind === 'Table') {
    const options = tableOptions(context);
    const head = tableHead(convert.version, { resourceVersion: object.metadata.resourceVersion ?? '' }, columnsOf(endpoint));
    const row = encodeRow(endpoint, stored, options, convert.version, Date.now());
    return respondJson(context, status, Buffer.concat([Buffer.from(head), row, tableEnd]), negotiated, metaSchema.struct('meta_v1.Table'));
  }
  if (!convert) return respondJson(context, status, encodeLine(endpoint.type, fromStorage(endpoint, object)), negotiated, endpoint.type);
  const partial = Buffer.concat([partialBytes(endpoint, stored, convert.version), newline]);
  respondJson(context, status, partial, negotiated, metaSchema.struct('meta_v1.PartialObjectMetadata'));
}

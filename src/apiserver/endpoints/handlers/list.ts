import { defaultColumns } from '#apiserver/registry/table-columns';
import { Buffer } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupVersionString, type KubeObject, type ListMeta } from '#apimachinery/meta/types';
import type { StructType } from '#apimachinery/runtime/schema';
import { startSteps, type Steps } from '#apimachinery/runtime/steps';
import type { RequestContext } from '#apiserver/request/request-context';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { CacheList, CacheListOptions } from '#apiserver/storage/cacher/list-query';
import type { Predicate } from '#apiserver/storage/cacher/predicate';
import type { ListChunk } from '#apiserver/storage/cacher/object-tree';
import type { Store } from '#apiserver/registry/store';
import type { RequestSpan } from '#apiserver/request/request-span';
import { groupResourceString } from '#apimachinery/api/errors';
import { type Deflated, deflatedPiece, gzipAsMade, GzipMember } from './gzip-pieces.ts';
import { parseObject } from './large-objects.ts';
import type { HeldRoom } from './held-lists.ts';
import { type Run, runsOf } from './list-runs.ts';
import { negotiate, type Negotiated } from './negotiation.ts';
import type { MediaType } from '#apiserver/request/media-type';
import { newWrongPartial } from './partial.ts';
import { processBudgets } from './process-budgets.ts';
import type { ListQuery } from '#apiserver/request/list-options';
import { parseListOptions } from './query-options.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { acceptsGzip, respondInMediaType, noteGzip, respondPieces, respondWithin, sendAsMade, sendGzip, wantsPretty } from './responses.ts';
import { storedSelectionOf } from './selection.ts';
import { columnsOf, encodeRow, tableHead, tableOptions } from './table.ts';
import { comma, cborPieces, jsonBody, type ListBody, type ListForm, listEnd, protobufBody } from './list-body.ts';

/** GET of a collection. Upstream: endpoints/handlers/get.go (ListResource). */
@Injectable()
export class ListHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions, true);
    const options = parseListOptions(context.searchParams);
    const selecting = storedSelectionOf(endpoint, options, context.info.name);
    return selecting instanceof Promise
      ? selecting.then((predicate) => this.#list(context, endpoint, negotiated, options, predicate))
      : this.#list(context, endpoint, negotiated, options, selecting);
  }

  #list(
    context: RequestContext,
    endpoint: ResourceEndpoint,
    negotiated: Negotiated,
    options: ListQuery,
    predicate: Predicate,
  ): void | Promise<void> {
    const { store } = endpoint;
    const asked = {
      scope: store.selectedScope(context.info.namespace, predicate, options.continue !== ''),
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      limit: options.limit,
      continue: options.continue,
      predicate,
    };
    const listed = context.span ? listWithin(context.span, store, asked) : store.cacher.list(asked);
    return listed instanceof Promise
      ? listed.then((list) => respondList(context, endpoint, list, negotiated, predicate))
      : respondList(context, endpoint, listed, negotiated, predicate);
  }
}

/** Reads a list within a span. Upstream: apiserver/pkg/storage/cacher/cacher.go. */
function listWithin(span: RequestSpan, store: Store, options: CacheListOptions): CacheList | Promise<CacheList> {
  return span.around('cacher.GetList', [['type', groupResourceString(store.groupResource)]], (addEvent) => {
    if (store.cacher.ready) addEvent('Ready');
    const filtered = (list: CacheList): CacheList => {
      addEvent('watchCache fresh enough');
      addEvent('Filtered items', [['count', list.count]]);
      return list;
    };
    const listed = store.cacher.list(options);
    return listed instanceof Promise ? listed.then(filtered) : filtered(listed);
  });
}

/** Sends a list in the negotiated form. Encodings that do not depend on the time come from the cache. */
export function respondList(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  negotiated: Negotiated,
  predicate: Predicate,
): void | Promise<void> {
  const respond = (): void | Promise<void> => respondListIn(context, endpoint, list, negotiated, predicate);
  return context.span ? respondWithin(context.span, context, negotiated, respond) : respond();
}

function respondListIn(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  negotiated: Negotiated,
  { shards }: Predicate,
): void | Promise<void> {
  const { convert, mediaType } = negotiated;
  const metadata = metadataOf(list);
  if (convert?.kind === 'Table') return respondTable(context, endpoint, list, metadata, negotiated);
  if (convert?.kind === 'PartialObjectMetadata') throw newWrongPartial(endpoint, convert.kind, true);
  const partial = convert?.version;
  const groupVersion = groupVersionString(endpoint.kind);
  const form: ListForm = partial
    ? {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${partial}`,
        partial,
        variant: `partial:${partial}:${groupVersion}`,
        metadata,
      }
    : {
        kind: endpoint.definition.listKind,
        apiVersion: groupVersion,
        partial,
        variant: groupVersion,
        // Upstream's lists of custom resources cannot carry it.
        metadata: shards && !endpoint.definition.custom ? { ...metadata, shardInfo: { selector: shards.text } } : metadata,
      };
  const isProtobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  const body = isProtobuf ? protobufBody(endpoint, form) : jsonBody(endpoint, list, form);
  // The size of items in their stored form is known without encoding them.
  const itemBytes = isProtobuf || partial || endpoint.conversion ? undefined : storedItemBytes(endpoint, list);
  return respondInTurn(context, list, canBeMadeAsTaken(context, negotiated), {
    whole: () => ended(startSteps(respondWhole(context, endpoint, list, negotiated, form, body))),
    asTaken: (isLarge) => respondLarge(context, mediaType, list, body, itemBytes, isLarge),
  });
}

/** Sends the whole list. It is synchronous if the runs are encoded already, as for most lists. */
function* respondWhole(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  negotiated: Negotiated,
  form: ListForm,
  body: ListBody,
): Steps<void | Promise<void>> {
  const { mediaType } = negotiated;
  const isProtobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  const isCbor = mediaType === 'application/cbor';
  if (!isProtobuf && !isCbor) return respondJson(context, negotiated, endpoint.type, yield* piecesOf(list, body));
  if (context.audit?.recordsResponse) {
    const json = isProtobuf ? jsonBody(endpoint, list, form) : body;
    context.audit.responseObject(Buffer.concat(yield* piecesOf(list, json)));
  }
  return respondPieces(context, mediaType, isCbor ? yield* cborPieces(endpoint, list, form) : yield* piecesOf(list, body));
}

/** Returns the whole list as buffers that the cache keeps. */
function* piecesOf({ chunks }: CacheList, { run, around }: ListBody): Steps<Buffer[]> {
  const runs = separated(yield* runsOf(chunks, run), run.separator);
  const { head, end } = around(sum(runs, ({ length }) => length));
  return [head, ...runs, end];
}

const { largeLists, heldLists } = processBudgets;
/** Smaller lists are not counted, because they are sent almost immediately. */
const smallListBytes = 64 * 1024;

/** True if the response can be encoded run by run. */
function canBeMadeAsTaken(context: RequestContext, negotiated: Negotiated): boolean {
  const { mediaType } = negotiated;
  if (mediaType !== 'application/json' && mediaType !== 'application/vnd.kubernetes.protobuf') return false;
  return !context.audit?.recordsResponse && !wantsPretty(context, negotiated);
}

interface ListAnswers {
  whole(): void | Promise<void>;
  /** `isLarge` is true if the list is large, false if it only exceeds the remaining budget. */
  asTaken(isLarge: boolean): void | Promise<void>;
}

/**
 * Sends a list whole if it is small enough and within the budget; otherwise encodes it as the client reads it, or waits for the
 * budget.
 */
function respondInTurn(context: RequestContext, list: CacheList, mayBeMade: boolean, answers: ListAnswers): void | Promise<void> {
  const isLarge = mayBeMade && sum(list.chunks, ({ bytes }) => bytes) > largeLists.mostKept;
  if (isLarge) return answers.asTaken(isLarge);
  const own = ownBytes(list, mayBeMade);
  if (own <= smallListBytes) return answers.whole();
  const owner = context.user?.name ?? '';
  const room = heldLists.tryHold(owner, own);
  if (room) return respondWholeIn(context, room, own, answers);
  return mayBeMade ? answers.asTaken(isLarge) : respondOnceThereIsRoom(context, owner, own, answers);
}

/** Returns the end of work whose last step may have started more. */
function ended(work: void | Promise<void | Promise<void>>): void | Promise<void> {
  return work?.then((more) => more);
}

/** Returns the bytes that the response does not share with others. Forms that cannot be made as they are taken are copies. */
function ownBytes({ chunks }: CacheList, mayBeMade: boolean): number {
  return sum(chunks, ({ owner, bytes }) => (owner === undefined || !mayBeMade ? bytes : 0));
}

/** Responds, and releases the room when the response is closed and its work has ended, which may be later. */
function releasedAfter({ exchange }: RequestContext, room: HeldRoom, respond: () => void | Promise<void>): void | Promise<void> {
  let responding: void | Promise<void>;
  try {
    responding = respond();
  } finally {
    exchange.onClose(() => {
      if (responding) responding.then(room.release, room.release);
      else room.release();
    });
  }
  return responding;
}

/** Sends the whole list, which holds `bytes`, or the bytes of the response if there are more, such as indented ones. */
function respondWholeIn(context: RequestContext, room: HeldRoom, bytes: number, answers: ListAnswers): void | Promise<void> {
  const grow = (): void => {
    if (!context.exchange.closed && context.responseBytes > bytes) room.resize(context.responseBytes);
  };
  return releasedAfter(context, room, () => {
    const responding = answers.whole();
    return responding ? responding.then(grow) : grow();
  });
}

function respondOnceThereIsRoom(context: RequestContext, owner: string, bytes: number, answers: ListAnswers): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = heldLists.whenRoom(owner, bytes, () => {
      const room = isWanted(context) ? heldLists.tryHold(owner, bytes) : undefined;
      if (!room) return resolve();
      Promise.resolve()
        .then(() => respondWholeIn(context, room, bytes, answers))
        .then(resolve, reject);
    });
    context.exchange.onClose(() => {
      giveUp();
      resolve();
    });
  });
}

/** Returns the JSON size of a list in stored form: commas replace newlines or, of the item prefix, all but the brace. */
function storedItemBytes({ itemPrefix }: ResourceEndpoint, { chunks, count }: CacheList): number {
  return sum(chunks, ({ bytes }) => bytes) - count * Math.max(itemPrefix, 1) + Math.max(0, count - 1);
}

/**
 * Sends a large list. `itemBytes` is undefined if the runs must be measured. `isLarge` is true if the list is large in stored form;
 * it may be small in the requested form.
 */
function respondLarge(
  context: RequestContext,
  mediaType: MediaType,
  list: CacheList,
  body: ListBody,
  itemBytes: number | undefined,
  isLarge: boolean,
): void | Promise<void> {
  const { exchange } = context;
  const { chunks } = list;
  if (!isWanted(context)) return;
  exchange.onClose(largeLists.begin());
  if (acceptsGzip(context) || body.run.stamp !== undefined) return respondDeflated(context, mediaType, list, body, itemBytes);
  const owner = context.user?.name ?? '';
  const own = ownBytes(list, true);
  // A list that is small in the requested form is sent whole if it shares its runs, or has room.
  const room = isLarge && own > 0 && itemBytes === undefined ? heldLists.tryHold(owner, Math.min(own, largeLists.mostKept)) : undefined;
  const keeps = isLarge && (own === 0 || room !== undefined);
  const respond = async (): Promise<void> => {
    const total =
      itemBytes ?? separatedBytes(await largeLists.measure(chunks, body.run, () => isWanted(context), keeps), chunks, body.run.separator);
    // The measurement was aborted, so `total` is incomplete.
    if (!isWanted(context)) return;
    const isKept = keeps && total <= largeLists.mostKept;
    room?.resize(isKept ? total : 0);
    if (isKept) return void respondPieces(context, mediaType, await startSteps(piecesOf(list, body)));
    sendRuns(context, mediaType, body, total, chunks, (chunk) => largeLists.run(chunk, body.run));
  };
  return room ? releasedAfter(context, room, respond) : respond();
}

/**
 * Sends a large list whose runs are compressed first: for a client that accepts gzip, or because they depend on the time, and all must be
 * of the same. Compressed runs that the list shares with no other take room; without room nothing is kept, and the length is not sent.
 */
function respondDeflated(
  context: RequestContext,
  mediaType: MediaType,
  list: CacheList,
  body: ListBody,
  itemBytes: number | undefined,
): void | Promise<void> {
  const { chunks } = list;
  const own = ownBytes(list, true);
  const isGzip = acceptsGzip(context);
  const { separator, stamp } = body.run;
  const respond = async (room?: HeldRoom): Promise<void> => {
    const runs = await deflatedRuns(context, chunks, body);
    room?.resize(sum(runs, ({ deflated }) => deflated.blocks.length));
    const total = separatedBytes(
      sum(runs, ({ deflated }) => deflated.bytes),
      chunks,
      separator,
    );
    if (isGzip) return sendGzip(context, 200, mediaType, await gzipOf(runs, body, total));
    return sendRuns(context, mediaType, body, total, runs, ({ chunk, run, deflated }) => largeLists.inflated(chunk, run, deflated));
  };
  if (own <= smallListBytes && stamp === undefined) return respond();
  const room = heldLists.tryHold(context.user?.name ?? '', own);
  return room ? releasedAfter(context, room, () => respond(room)) : respondUnmeasured(context, mediaType, list, body, itemBytes);
}

/** Sends a list of which nothing is kept: each run is encoded, and compressed, when the client has read those before it. */
async function respondUnmeasured(
  context: RequestContext,
  mediaType: MediaType,
  { chunks }: CacheList,
  body: ListBody,
  itemBytes: number | undefined,
): Promise<void> {
  const { run } = body;
  const measured = async (): Promise<number> =>
    separatedBytes(await largeLists.measure(chunks, run, () => isWanted(context), false), chunks, run.separator);
  const { head, end } = body.around(itemBytes ?? (body.isSizeInHead ? await measured() : 0));
  if (!isWanted(context)) return;
  const parts = runsAsMade(chunks, run, head, end, (chunk) => largeLists.run(chunk, run));
  if (!acceptsGzip(context)) return sendAsMade(context, mediaType, parts, undefined);
  noteGzip(context);
  sendAsMade(context, mediaType, gzipAsMade(parts), undefined);
}

/** True if the client still waits for the response. */
function isWanted(context: RequestContext): boolean {
  return !context.answered && !context.exchange.closed;
}

function separatedBytes(bytes: number, chunks: readonly ListChunk[], separator: Buffer): number {
  return bytes + Math.max(0, chunks.length - 1) * separator.length;
}

/** Sends runs, each of which is encoded when the client has read those before it. */
function sendRuns<T>(
  context: RequestContext,
  mediaType: MediaType,
  { run: { separator }, around }: ListBody,
  itemBytes: number,
  parts: readonly T[],
  make: (part: T) => Promise<Buffer>,
): void {
  if (!isWanted(context)) return;
  const { head, end } = around(itemBytes);
  sendAsMade(context, mediaType, runsAsMade(parts, { separator }, head, end, make), head.length + itemBytes + end.length);
}

async function* runsAsMade<T>(
  parts: readonly T[],
  { separator }: Pick<Run, 'separator'>,
  head: Buffer,
  end: Buffer,
  make: (part: T) => Promise<Buffer>,
): AsyncGenerator<Buffer, void> {
  yield head;
  for (const [at, part] of parts.entries()) {
    if (at > 0 && separator.length > 0) yield separator;
    yield make(part);
  }
  yield end;
}

interface DeflatedRun {
  readonly chunk: ListChunk;
  readonly run: Run;
  readonly deflated: Deflated;
}

/** Returns the compressed runs, which are small enough to be kept until the list is sent; incomplete if the client disconnects. */
async function deflatedRuns(context: RequestContext, chunks: readonly ListChunk[], body: ListBody): Promise<DeflatedRun[]> {
  const runs: DeflatedRun[] = [];
  for (const chunk of chunks) {
    if (!isWanted(context)) break;
    const { run } = body;
    runs.push({ chunk, run, deflated: await largeLists.deflated(chunk, run) });
  }
  return runs;
}

/** Returns one gzip member with the whole list. */
async function gzipOf(runs: readonly DeflatedRun[], body: ListBody, itemBytes: number): Promise<Buffer[]> {
  const { head, end } = body.around(itemBytes);
  const between = await deflatedPiece(body.run.separator);
  const pieces = runs.flatMap(({ deflated }, at) => (at === 0 || between.bytes === 0 ? [deflated] : [between, deflated]));
  const member = new GzipMember();
  const parts = [await deflatedPiece(head), ...pieces, await deflatedPiece(end)].map((piece) => member.add(piece));
  return [member.head, ...parts, member.end()];
}

function sum<T>(list: readonly T[], numberOf: (item: T) => number): number {
  let total = 0;
  for (const item of list) total += numberOf(item);
  return total;
}

function metadataOf(list: CacheList): ListMeta {
  const metadata: ListMeta = { resourceVersion: String(list.revision) };
  if (list.continueToken) metadata.continue = list.continueToken;
  if (list.remainingItemCount !== undefined && list.remainingItemCount > 0) metadata.remainingItemCount = list.remainingItemCount;
  return metadata;
}

/** Sends a table. Ages are in whole seconds, so rows are shared by requests within one second. */
function respondTable(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  metadata: ListMeta,
  negotiated: Negotiated,
): void | Promise<void> {
  const options = tableOptions(context);
  const version = negotiated.convert?.version ?? 'v1';
  const variant = `table:${options.includeObject}:${version}:${groupVersionString(endpoint.kind)}`;
  const columns = columnsOf(endpoint);
  const head = tableHead(version, metadata, columns);
  // Upstream's default convertor leaves the rows of an empty list unset.
  const hasNoRows = list.count === 0 && columns === defaultColumns;
  const around = hasNoRows
    ? { head: Buffer.from(`${head.slice(0, -1)}null`), end: Buffer.from('}\n') }
    : { head: Buffer.from(head), end: listEnd };
  const body: ListBody = {
    get run() {
      const second = Math.floor(Date.now() / 1000);
      const makeItem = (object: CachedObject): Buffer => encodeRow(endpoint, object, options, version, second * 1000);
      return { variant, makeItem, separator: comma, stamp: second, prepare: parseObject };
    },
    around: () => around,
  };
  const { mediaType } = negotiated;
  const { compareRows } = endpoint.definition;
  const mayBeMade = !compareRows && mediaType === 'application/json' && canBeMadeAsTaken(context, negotiated);
  return respondInTurn(context, list, mayBeMade, {
    whole: () => ended(startSteps(respondRows(context, list, negotiated, body, compareRows))),
    asTaken: (isLarge) => respondLarge(context, mediaType, list, body, undefined, isLarge),
  });
}

function* respondRows(
  context: RequestContext,
  list: CacheList,
  negotiated: Negotiated,
  body: ListBody,
  compareRows: ResourceEndpoint['definition']['compareRows'],
): Steps<void | Promise<void>> {
  const { run } = body;
  const rows = compareRows ? yield* sortedRows(list.chunks, compareRows, run.makeItem) : yield* runsOf(list.chunks, run);
  const { head, end } = body.around(0);
  return respondJson(context, negotiated, metaSchema.struct('meta_v1.Table'), [head, ...separated(rows, run.separator), end]);
}

function* sortedRows(
  chunks: readonly ListChunk[],
  compareRows: NonNullable<ResourceEndpoint['definition']['compareRows']>,
  makeRow: (object: CachedObject) => Buffer,
): Steps<Buffer[]> {
  const parsed: { readonly item: CachedObject; readonly object: KubeObject }[] = [];
  for (const { items } of chunks) {
    for (const item of items) {
      yield* item.parseSteps();
      parsed.push({ item, object: item.object });
    }
    yield;
  }
  parsed.sort((a, b) => compareRows(a.object, b.object));
  const rows: Buffer[] = [];
  for (const { item } of parsed) {
    rows.push(makeRow(item));
    yield;
  }
  return rows;
}

/** Sends JSON or the negotiated encoding. */
function respondJson(context: RequestContext, negotiated: Negotiated, type: StructType, pieces: readonly Buffer[]): void | Promise<void> {
  const { mediaType } = negotiated;
  if (context.audit?.recordsResponse) context.audit.responseObject(Buffer.concat(pieces));
  if (mediaType === 'application/json' && !wantsPretty(context, negotiated)) return respondPieces(context, mediaType, pieces);
  return respondInMediaType(context, 200, pieces, negotiated, type);
}

function separated(runs: readonly Buffer[], separator: Buffer): readonly Buffer[] {
  return separator.length === 0 ? runs : runs.flatMap((run, i) => (i === 0 ? [run] : [separator, run]));
}

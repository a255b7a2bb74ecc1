import type { Buffer } from 'node:buffer';
import { startSteps } from '#apimachinery/runtime/steps';
import type { MediaType } from '#apiserver/request/media-type';
import type { RequestContext } from '#apiserver/request/request-context';
import type { CacheList } from '#apiserver/storage/cacher/list-query';
import type { ListChunk } from '#apiserver/storage/cacher/object-tree';
import { type Deflated, deflatedPiece, gzipAsMade, GzipMember } from './gzip-pieces.ts';
import type { HeldRoom } from './held-lists.ts';
import { type ListBody, piecesOf, sum } from './list-body.ts';
import { isWanted, ownBytes, ownerOf, releasedAfter, smallListBytes } from './list-room.ts';
import type { Run } from './list-runs.ts';
import { processBudgets } from './process-budgets.ts';
import { acceptsGzip, noteGzip, respondPieces, sendAsMade, sendGzip } from './responses.ts';

const { largeLists, heldLists } = processBudgets;

/** A list that is encoded as the client reads it. */
export interface LargeList {
  readonly context: RequestContext;
  readonly mediaType: MediaType;
  readonly list: CacheList;
  readonly body: ListBody;
  /** Size of the items with their separators; undefined if the runs must be measured. */
  readonly itemBytes: number | undefined;
}

/** Sends a large list. `isLarge` is true if the list is large in stored form; it may be small in the requested form. */
export function respondLarge(large: LargeList, isLarge: boolean): void | Promise<void> {
  const { context, mediaType, list, body, itemBytes } = large;
  if (!isWanted(context)) return;
  context.exchange.onClose(largeLists.begin());
  if (acceptsGzip(context) || body.run.stamp !== undefined) return respondDeflated(large);
  const own = ownBytes(list, true);
  // A list that is small in the requested form is sent whole if it shares its runs, or has room.
  const room =
    isLarge && own > 0 && itemBytes === undefined ? heldLists.tryHold(ownerOf(context), Math.min(own, largeLists.mostKept)) : undefined;
  const keeps = isLarge && (own === 0 || room !== undefined);
  const respond = async (): Promise<void> => {
    const total = itemBytes ?? (await measuredBytes(large, body.run, keeps));
    // The measurement was aborted, so `total` is incomplete.
    if (!isWanted(context)) return;
    const isKept = keeps && total <= largeLists.mostKept;
    room?.resize(isKept ? total : 0);
    if (isKept) return void respondPieces(context, mediaType, await startSteps(piecesOf(list, body)));
    sendRuns(large, total, list.chunks, (chunk) => largeLists.run(chunk, body.run));
  };
  return room ? releasedAfter(context, room, respond) : respond();
}

/**
 * Sends a large list whose runs are compressed first: for a client that accepts gzip, or because they depend on the time, and all must be
 * of the same. Compressed runs that the list shares with no other take room; without room nothing is kept, and the length is not sent.
 */
function respondDeflated(large: LargeList): void | Promise<void> {
  const { context, mediaType, list, body } = large;
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
    return sendRuns(large, total, runs, ({ chunk, run, deflated }) => largeLists.inflated(chunk, run, deflated));
  };
  if (own <= smallListBytes && stamp === undefined) return respond();
  const room = heldLists.tryHold(ownerOf(context), own);
  return room ? releasedAfter(context, room, () => respond(room)) : respondUnmeasured(large);
}

/** Sends a list of which nothing is kept: each run is encoded, and compressed, when the client has read those before it. */
async function respondUnmeasured(large: LargeList): Promise<void> {
  const { context, mediaType, list, body, itemBytes } = large;
  const { run } = body;
  const { head, end } = body.around(itemBytes ?? (body.isSizeInHead ? await measuredBytes(large, run, false) : 0));
  if (!isWanted(context)) return;
  const parts = runsAsMade(list.chunks, run, head, end, (chunk) => largeLists.run(chunk, run));
  if (!acceptsGzip(context)) return sendAsMade(context, mediaType, parts, undefined);
  noteGzip(context);
  sendAsMade(context, mediaType, gzipAsMade(parts), undefined);
}

/** Returns the size of the items with their separators; incomplete if the client disconnects. */
async function measuredBytes({ context, list: { chunks } }: LargeList, run: Run, keeps: boolean): Promise<number> {
  return separatedBytes(await largeLists.measure(chunks, run, () => isWanted(context), keeps), chunks, run.separator);
}

function separatedBytes(bytes: number, chunks: readonly ListChunk[], separator: Buffer): number {
  return bytes + Math.max(0, chunks.length - 1) * separator.length;
}

/** Sends runs, each of which is encoded when the client has read those before it. */
function sendRuns<T>(
  { context, mediaType, body: { run, around } }: LargeList,
  itemBytes: number,
  parts: readonly T[],
  make: (part: T) => Promise<Buffer>,
): void {
  if (!isWanted(context)) return;
  const { head, end } = around(itemBytes);
  sendAsMade(context, mediaType, runsAsMade(parts, run, head, end, make), head.length + itemBytes + end.length);
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

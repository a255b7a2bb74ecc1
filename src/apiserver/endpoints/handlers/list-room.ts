import type { RequestContext } from '#apiserver/request/request-context';
import type { CacheList } from '#apiserver/storage/cacher/list-query';
import type { HeldRoom } from './held-lists.ts';
import { sum } from './list-body.ts';
import { processBudgets } from './process-budgets.ts';

/** Lists that are smaller are not counted, because they are sent almost immediately. */
export const smallListBytes = 64 * 1024;

const { largeLists, heldLists } = processBudgets;

/** Returns the owner of the bytes that a response holds: the user. */
export function ownerOf({ user }: RequestContext): string {
  return user?.name ?? '';
}

/** The two ways to send a list. */
export interface ListAnswers {
  whole(): void | Promise<void>;
  /** `isLarge` is true if the list is large, false if it only exceeds the remaining budget. */
  asTaken(isLarge: boolean): void | Promise<void>;
}

/**
 * Sends a list whole if it is small enough and within the budget; otherwise encodes it as the client reads it, or waits for the
 * budget.
 */
export function respondInTurn(context: RequestContext, list: CacheList, mayBeMade: boolean, answers: ListAnswers): void | Promise<void> {
  const isLarge = mayBeMade && sum(list.chunks, ({ bytes }) => bytes) > largeLists.mostKept;
  if (isLarge) return answers.asTaken(true);
  const own = ownBytes(list, mayBeMade);
  if (own <= smallListBytes) return answers.whole();
  const owner = ownerOf(context);
  const room = heldLists.tryHold(owner, own);
  if (room) return respondWholeIn(context, room, own, answers);
  return mayBeMade ? answers.asTaken(false) : respondOnceThereIsRoom(context, owner, own, answers);
}

/** Returns the bytes that the response does not share with others. Forms that cannot be made as they are taken are copies. */
export function ownBytes({ chunks }: CacheList, mayBeMade: boolean): number {
  return sum(chunks, ({ owner, bytes }) => (owner === undefined || !mayBeMade ? bytes : 0));
}

/** Responds, and releases the room when the response is closed and its work has ended, which may be later. */
export function releasedAfter({ exchange }: RequestContext, room: HeldRoom, respond: () => void | Promise<void>): void | Promise<void> {
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

/** True if the client still waits for the response. */
export function isWanted(context: RequestContext): boolean {
  return !context.answered && !context.exchange.closed;
}

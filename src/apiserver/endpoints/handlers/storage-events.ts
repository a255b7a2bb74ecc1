import type { RequestSpan } from '#apiserver/request/request-span';

/** Tells the span of a write when it goes to the store, and what comes of it. Upstream: endpoints/handlers/create.go, update.go. */
export function tellsStorage<T>(span: RequestSpan | undefined, length: number, write: () => Promise<T>): Promise<T> {
  return span ? told(span, length, write) : write();
}

async function told<T>(span: RequestSpan, length: number, write: () => Promise<T>): Promise<T> {
  span.event('About to store object in database');
  try {
    const stored = await write();
    span.event('Write to database call succeeded', [['len', length]]);
    return stored;
  } catch (error) {
    span.event('Write to database call failed', [
      ['len', length],
      ['err', (error as Error).message],
    ]);
    throw error;
  }
}

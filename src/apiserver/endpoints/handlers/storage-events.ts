import type { RequestSpan } from '#apiserver/request/request-span';

/** Adds events to the span when a write reaches the store and when it completes. Upstream: endpoints/handlers/create.go, update.go. */
export function withStorageEvents<T>(span: RequestSpan | undefined, length: number, write: () => Promise<T>): Promise<T> {
  return span ? writeWithEvents(span, length, write) : write();
}

async function writeWithEvents<T>(span: RequestSpan, length: number, write: () => Promise<T>): Promise<T> {
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

/** Clients over HTTP/2 that each send requests sequentially. */
import http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';

const streamsOfConnection = 100;

export interface BusyRequest {
  readonly path: string;
  /** Merge patch; undefined: a GET. */
  readonly patch?: object | undefined;
}

export interface BusyClients {
  readonly url: string;
  readonly token: string;
  readonly clients: number;
  /** Delay after a 429, regardless of Retry-After. */
  readonly retryMs: number;
  /** Returns the `turn`th request of a client. */
  request(client: number, turn: number): BusyRequest;
}

export interface BusyCounts {
  done: number;
  refused: number;
  /** Other responses with their counts. */
  readonly others: Map<string, number>;
}

export const newCounts = (): BusyCounts => ({ done: 0, refused: 0, others: new Map() });

/** Sends requests until the signal aborts. */
export async function keepBusy(
  { url, token, clients, retryMs, request }: BusyClients,
  counts: BusyCounts,
  signal: AbortSignal,
): Promise<void> {
  const sessions = Array.from({ length: Math.ceil(clients / streamsOfConnection) }, () =>
    http2.connect(url, { rejectUnauthorized: false }),
  );
  for (const session of sessions) session.on('error', () => {});
  const ask = (session: http2.ClientHttp2Session, { path, patch }: BusyRequest): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const common = { ':path': path, authorization: `Bearer ${token}` };
    const stream = session.request(
      patch ? { ...common, ':method': 'PATCH', 'content-type': 'application/merge-patch+json' } : { ...common, ':method': 'GET' },
    );
    stream.on('response', (headers) => stream.resume().on('end', () => resolve(String(headers[':status']))));
    stream.on('error', ({ message }) => resolve(message)).on('close', () => resolve('no answer'));
    stream.end(patch && JSON.stringify(patch));
    return promise;
  };
  const run = async (client: number): Promise<void> => {
    const session = sessions[client % sessions.length]!;
    for (let turn = client; !signal.aborted; turn++) {
      const answer = await ask(session, request(client, turn));
      if (answer === '200') counts.done += 1;
      else if (answer === '429') {
        counts.refused += 1;
        await sleep(retryMs);
      } else counts.others.set(answer, (counts.others.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  for (const session of sessions) session.destroy();
}

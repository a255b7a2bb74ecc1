import type { Buffer } from 'node:buffer';
import { parentPort, workerData } from 'node:worker_threads';
import type { Exchange, Peer } from '#apiserver/request/exchange';
import type { Http1Exchange } from '../http1-exchange.ts';
import type { Http2Exchange } from '../http2-exchange.ts';
import { SecureServer } from '../secure-server.ts';
import { Backlog } from './backlog.ts';
import {
  type WorkerCommand,
  commandKinds,
  type Order,
  type Report,
  messageKinds,
  type WorkerMessage,
  type WorkerOptions,
} from './messages.ts';
import { type Batch, Outbox, partsOf } from './outbox.ts';
import { chainOf } from './peers.ts';
import { RelayedRequest } from './relayed-request.ts';

/*
 * Thread that terminates connections: TLS, HTTP framing and their limits. The main thread serves the requests. When run from the
 * sources, Node loads this file and its imports directly, so they use only erasable syntax.
 */

const port = parentPort!;
const options = workerData as WorkerOptions;
const backlog = new Backlog(options.backlog);
const outbox = new Outbox<WorkerMessage>((batch, transfer) => {
  backlog.add(batch.weight);
  port.postMessage(batch, transfer);
});
const requests = new Map<number, RelayedRequest>();
const peers = new Map<Peer, number>();
let lastRequest = 0;
let lastPeer = 0;

const server = new SecureServer({ ...options, sharesPort: true }, relay, {
  onPeerGone: forgetPeer,
  onHandshakeError: () => outbox.push([messageKinds.handshakeError]),
});

port.on('message', (message: Batch<WorkerCommand> | Order) => {
  if ('order' in message) return carryOut(message);
  const parts = partsOf(message, true);
  for (const entry of message.entries) answer(entry, parts);
});

function relay(exchange: Exchange): void {
  const request = (lastRequest += 1);
  requests.set(request, new RelayedRequest(request, numberOf(exchange.peer), exchange as Http1Exchange | Http2Exchange, outbox));
  exchange.onClose(() => {
    if (requests.delete(request)) outbox.push([messageKinds.closed, request]);
  });
}

function numberOf(peer: Peer): number {
  let number = peers.get(peer);
  if (number === undefined) {
    number = lastPeer += 1;
    peers.set(peer, number);
    outbox.push([messageKinds.peer, number, peer.remoteAddress, chainOf(peer)]);
  }
  return number;
}

function forgetPeer(peer: Peer): void {
  const number = peers.get(peer);
  if (number === undefined) return;
  peers.delete(peer);
  outbox.push([messageKinds.peerGone, number]);
}

function answer(entry: WorkerCommand, parts: readonly Buffer[]): void {
  const request = requests.get(entry[1]);
  if (!request) return;
  switch (entry[0]) {
    case commandKinds.send: {
      const [, number, status, headers, pieces, length, closesConnection] = entry;
      requests.delete(number);
      return request.send(
        status,
        headers,
        pieces.map((part) => parts[part] as Buffer),
        length,
        closesConnection,
      );
    }
    case commandKinds.open:
      return request.open(entry[2], entry[3], entry[4], entry[5]);
    case commandKinds.write:
      return request.write(parts[entry[2]] as Buffer);
    case commandKinds.end:
      return request.end();
    case commandKinds.abort:
      return request.abort();
    case commandKinds.grant:
      return request.grant(entry[2]);
    case commandKinds.takeOver:
      return request.takeOver();
  }
}

function carryOut(order: Order): void {
  if (order.order === 'listen') listen(order.port, order.host);
  else if (order.order === 'reload') server.reload(order.tls);
  else if (order.order === 'stopListening') server.stopListening();
  else if (order.order === 'settle') void settle();
  else setImmediate(() => void server.close().then(() => port.close()));
}

function listen(number: number, host: string): void {
  server.listen(number, host).then(
    (listening) => report({ listening }),
    ({ message, code }: NodeJS.ErrnoException) => {
      report({ failed: { message, code } });
      port.close();
    },
  );
}

/** Reports that the server has settled, after the requests that it has relayed. */
async function settle(): Promise<void> {
  await server.settled();
  outbox.flush();
  report({ settled: true });
}

function report(message: Report): void {
  port.postMessage(message);
}

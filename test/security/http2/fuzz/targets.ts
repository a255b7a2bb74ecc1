/** Servers for the HTTP/2 fuzzer, without TLS and with identical responses. */
import { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { Exchange } from '#apiserver/request/exchange';
import { connectionDeadlines } from '#apiserver/serving/deadlines';
import { Http2Exchange } from '#apiserver/serving/http2-exchange';
import type { Http2ServerOptions, OnStream } from '#apiserver/serving/http2-server';
import { NodeHttp2Server } from '#apiserver/serving/node-http2/node-http2-server';
import { OwnHttp2Server } from '#apiserver/serving/own-http2-server';
import { buildGoProgram, goObstacle } from '../../../servers/go-programs.ts';

export type TargetName = 'own' | 'nghttp2' | 'go';

export interface Target {
  readonly name: TargetName;
  readonly port: number;
}

const folder = resolve(import.meta.dirname, '../go');
const large = Buffer.alloc(200_000, 'x');
const options: Http2ServerOptions = {
  maxConcurrentStreams: 100,
  streamWindow: 256 * 1024,
  maxHeaderBytes: 1 << 20,
  deadlines: connectionDeadlines,
};

/** Equal to `handle` of go/main.go. */
function serve(exchange: Exchange): void {
  const path = exchange.url.split('?')[0];
  if (path === '/hang') return;
  if (path === '/early') return exchange.send(202, [], undefined);
  if (path === '/large') return exchange.send(200, [], large);
  exchange.readBody(1 << 30).then(
    (body) => exchange.send(200, [], Buffer.from(`${exchange.method} ${body.length}`)),
    () => exchange.send(400, [], undefined),
  );
}

async function startHere(
  name: TargetName,
  Server: new (options: Http2ServerOptions, onStream: OnStream) => OwnHttp2Server | NodeHttp2Server,
  stack: AsyncDisposableStack,
): Promise<Target> {
  const peer = { remoteAddress: '127.0.0.1', certificates: [], memo: new Map() };
  const http2 = new Server(options, (stream) => serve(new Http2Exchange(stream, peer, 60_000)));
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    http2.serve(socket as TLSSocket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    http2.destroy();
    server.close();
  });
  return { name, port: (server.address() as AddressInfo).port };
}

/** Returns the reason why Go's implementation is unavailable; undefined if it is available. */
export function noGo(): string | undefined {
  return goObstacle(folder);
}

let built: string | undefined;

/** Runs the Go program with an argument. It ends with its standard input. */
export async function runGo(verb: string, stack: AsyncDisposableStack): Promise<ChildProcess> {
  if (!built) {
    const into = mkdtempSync(join(tmpdir(), 'http2-go-'));
    built = join(into, 'http2');
    process.once('exit', () => rmSync(into, { recursive: true, force: true }));
    await buildGoProgram(folder, '.', built);
  }
  const child = spawn(built, [verb], { stdio: ['pipe', 'pipe', 'inherit'] });
  stack.defer(() => void child.stdin.end());
  return child;
}

/** Starts the available servers. */
export async function startTargets(stack: AsyncDisposableStack): Promise<Target[]> {
  const targets = [await startHere('own', OwnHttp2Server, stack), await startHere('nghttp2', NodeHttp2Server, stack)];
  if (noGo()) return targets;
  const child = await runGo('serve', stack);
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return [...targets, { name: 'go', port: Number(String(line).trim()) }];
}

import { Buffer } from 'node:buffer';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { posix } from 'node:path';
import { Duplex } from 'node:stream';
import type { Container, Pod } from 'kubenest/types/core_v1';
import { containersOf } from '../pods/container-roles.ts';
import { imageProgramOf } from '../pods/image-program.ts';
import { runMainProcess } from '../pods/main-process.ts';
import type { PodFiles } from '../pods/pod-files.ts';
import { bytesOfText } from '../shell/bytes.ts';
import type { SpdyStream } from '../spdy/connection.ts';

const httpPort = 80;
const notImplemented = 501;

/**
 * Returns the running container that listens on a port of the pod: a web server of a known image on port 80, or one that declares the port.
 * A command of the simulated shell does not listen.
 */
export function listenerOn(pod: Pod, port: number, files: PodFiles): Container | undefined {
  const listens = (container: Container): boolean =>
    (port === httpPort && imageProgramOf(container)?.documentRoot !== undefined) ||
    (container.ports?.some(({ containerPort, protocol = 'TCP' }) => containerPort === port && protocol === 'TCP') ?? false);
  return containersOf(pod, pod.status).find(
    ({ container, status }) => status?.state?.running && listens(container) && !runMainProcess(pod, container, files, 0),
  )?.container;
}

/** Answers HTTP requests in place of a container: with the documents of a known web server, or with a text about the simulation. */
export function serveSimulated(pod: Pod, container: Container, files: PodFiles, stream: SpdyStream): void {
  const server = createServer((request, response) => answer(pod, container, files, request, response));
  connectTo(server, stream);
}

function answer(pod: Pod, container: Container, files: PodFiles, request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const { documentRoot } = imageProgramOf(container) ?? {};
  const send = (status: number, type: string, text: string): void => {
    const bytes = bytesOfText(text);
    response.writeHead(status, {
      'content-type': type,
      'content-length': bytes.length,
      connection: 'close',
      server: 'kubenest',
    });
    response.end(bytes);
  };
  if (documentRoot === undefined) {
    const { namespace, name } = pod.metadata;
    const text = `container ${container.name} of pod ${namespace}/${name} is simulated by kubenest: no program answers here\n`;
    return send(notImplemented, 'text/plain; charset=utf-8', text);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'text/plain; charset=utf-8', 'Method Not Allowed\n');
  const document = documentOf(documentRoot, request.url ?? '/');
  const text = document && files.open(pod, container, files.mounted(pod, container), Date.now()).read(document);
  if (text === undefined) return send(404, 'text/plain; charset=utf-8', 'Not Found\n');
  send(200, document?.endsWith('.html') ? 'text/html' : 'text/plain; charset=utf-8', text);
}

/** Returns the path of the document that a URL names; undefined for one that cannot be decoded. */
function documentOf(root: string, url: string): string | undefined {
  try {
    const path = decodeURIComponent(url.split(/[?#]/, 1)[0] ?? '/');
    return posix.join(root, posix.resolve('/', path.endsWith('/') ? `${path}index.html` : path));
  } catch {
    return undefined;
  }
}

/** Lets a server answer the requests of a stream. */
function connectTo(server: Server, stream: SpdyStream): void {
  const connection = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      stream.write(bytes);
      done();
    },
    final(done) {
      stream.end();
      done();
    },
    destroy(_, done) {
      stream.end();
      done(null);
    },
  });
  stream.onData = function* (bytes) {
    connection.push(Buffer.from(bytes));
    yield;
  };
  stream.onEnd = () => void connection.push(null);
  stream.onReset = () => void connection.destroy();
  server.emit('connection', connection);
}

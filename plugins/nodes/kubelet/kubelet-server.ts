import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { quote } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { KubeletCertificates } from '../options.ts';
import { containersOf } from '../pods/container-roles.ts';
import type { KnownPods } from '../pods/known-pods.ts';
import { followLog, logParts, logQuery, logSource, selectLog } from './container-log.ts';
import type { PodFiles } from '../pods/pod-files.ts';
import { forwardPorts } from './port-forward.ts';
import { show, startShell, type ProcessOptions, type ProcessStreams, type RemoteProcess, startProcess } from './remote-process.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { serveSpdyCommand, spdyCommandProtocol } from './spdy-command.ts';
import { isWebSocketHandshake } from './websocket-connection.ts';
import { commandProtocol, serveWebSocketCommand } from './websocket-command.ts';

/** Further pages of a kubelet, by path: the metrics. */
export type KubeletPages = Readonly<Record<string, (node: string) => { readonly type: string; readonly body: string }>>;

/** An answer that is an error, as a kubelet words it. */
class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The HTTPS endpoints of simulated kubelets on the loopback interface: logs, exec, attach, port-forward, pods and metrics. Each node has a
 * port of its own. Clients need a certificate of the given authorities for the API server or for group system:masters, since the kubelets do
 * not ask an authorizer. Upstream: kubernetes/pkg/kubelet/server/server.go.
 */
export class KubeletServers implements AsyncDisposable {
  readonly #servers = new Map<string, Server>();
  /** Connections of commands and forwarded ports, which a server does not close, by node. */
  readonly #upgraded = new Map<string, Set<Duplex>>();

  constructor(
    private readonly certificates: KubeletCertificates,
    private readonly pods: KnownPods,
    private readonly pages: KubeletPages,
    private readonly localPorts: readonly number[],
    private readonly files: PodFiles,
    private readonly tokens: ServiceAccountTokens,
  ) {}

  /** Starts the kubelet of a node, if it does not run yet, and returns its port. */
  async start(node: string): Promise<number> {
    const present = this.#servers.get(node);
    if (present) return (present.address() as AddressInfo).port;
    const { cert, key, clientAuthorities } = this.certificates;
    const server = createServer({ cert, key, ca: clientAuthorities, requestCert: true, rejectUnauthorized: false, minVersion: 'TLSv1.2' });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#request(node, request, response));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => void this.#upgrade(node, request, socket, head));
    this.#servers.set(node, server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    server.unref();
    const { port } = server.address() as AddressInfo;
    const { ports } = this.certificates;
    ports?.add(port);
    server.once('close', () => ports?.delete(port));
    return port;
  }

  async stop(node: string): Promise<void> {
    const server = this.#servers.get(node);
    this.#servers.delete(node);
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    for (const socket of this.#upgraded.get(node) ?? []) socket.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.keys()].map((node) => this.stop(node)));
  }

  /** Throws for a client that may not use a kubelet: the authority also signs the certificates of ordinary users. */
  #authorize({ socket }: IncomingMessage): void {
    const connection = socket as TLSSocket;
    if (!connection.authorized) throw new HttpError(401, 'Unauthorized');
    const { CN: name, O: groups = [] } = connection.getPeerCertificate().subject;
    if (name !== this.certificates.clientName && ![groups].flat().includes('system:masters')) throw new HttpError(403, 'Forbidden');
  }

  #request(node: string, request: IncomingMessage, response: ServerResponse): void {
    try {
      this.#authorize(request);
      if (request.method !== 'GET') throw new HttpError(405, 'Method Not Allowed');
      const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet');
      const page = Object.hasOwn(this.pages, pathname) ? this.pages[pathname] : undefined;
      if (page) {
        const { type, body } = page(node);
        return void response.writeHead(200, { 'content-type': type }).end(body);
      }
      if (pathname === '/pods') return this.#pods(node, response);
      if (pathname === '/healthz') return void response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('ok');
      const [, verb, ...rest] = pathname.split('/').map(decodeURIComponent);
      if (verb === 'containerLogs' && rest.length === 3) return this.#log(node, rest as [string, string, string], searchParams, response);
      throw new HttpError(404, '404 page not found');
    } catch (error) {
      refuse(error, (status, text) => response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text));
    }
  }

  #pods(node: string, response: ServerResponse): void {
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: this.pods.ofNode(node) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
  }

  /** Returns the pod of the node. Throws the kubelet's error if it does not exist. */
  #podOf(node: string, namespace: string, name: string): Pod {
    const pod = this.pods.get(namespace, name);
    if (pod?.spec?.nodeName !== node) throw new HttpError(404, `pod ${quote(`${name}_${namespace}`)} does not exist`);
    return pod;
  }

  #log(node: string, [namespace, name, container]: [string, string, string], query: URLSearchParams, response: ServerResponse): void {
    const options = logQuery(query, Date.now());
    if (!options) throw new HttpError(400, '{"message": "Invalid request."}');
    const pod = this.pods.get(namespace, name);
    if (pod?.spec?.nodeName !== node) throw new HttpError(404, `pod ${quote(name)} not found`);
    if (!containersOf(pod, pod.status).some((one) => one.container.name === container))
      throw new HttpError(404, `container ${quote(container)} not found in pod ${quote(name)}`);
    const source = logSource(pod, container, options.previous);
    if ('problem' in source) throw new HttpError(400, source.problem);
    response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
    response.flushHeaders();
    const now = Date.now();
    response.write(selectLog(logParts(source, this.files, now), options));
    if (!options.follow || source.finishedAt !== undefined || options.limitBytes !== undefined) return void response.end();
    const following = followLog(source, this.pods, this.files, now, {
      isReading: () => !response.writableNeedDrain,
      added: (parts) => response.write(selectLog(parts, { ...options, tailLines: undefined })),
      ended: () => response.end(),
    });
    response.once('close', () => following[Symbol.dispose]());
  }

  #hold(node: string, socket: Duplex): void {
    const sockets = this.#upgraded.get(node) ?? new Set();
    this.#upgraded.set(node, sockets.add(socket));
    socket.once('close', () => sockets.delete(socket));
  }

  async #upgrade(node: string, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    this.#hold(node, socket);
    try {
      this.#authorize(request);
      const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet');
      const [, verb, namespace = '', name = '', container = ''] = pathname.split('/').map(decodeURIComponent);
      const pod = this.#podOf(node, namespace, name);
      if (verb === 'portForward') return this.#forward(pod, request, socket, head);
      if (verb !== 'exec' && verb !== 'attach') throw new HttpError(404, '404 page not found');
      await this.#command(verb, pod, container, searchParams, request, socket, head);
    } catch (error) {
      refuse(error, (status, text) => {
        socket.end(
          `HTTP/1.1 ${status} Error\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
        );
      });
    }
  }

  async #command(
    verb: 'exec' | 'attach',
    pod: Pod,
    name: string,
    query: URLSearchParams,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const found = containersOf(pod, pod.status).find(({ container }) => container.name === name);
    if (!found?.status?.state?.running) throw new HttpError(404, `container not found (${quote(name)})`);
    const mounted = await this.tokens.addTo(this.files.mounted(pod, found.container), pod, found.container);
    // A process of a client that left meanwhile would never end.
    if (socket.destroyed) return;
    const isOn = (flag: string): boolean => query.get(flag) === '1';
    const options: ProcessOptions = {
      pod,
      container: found.container,
      command: query.getAll('command'),
      hasStdin: isOn('input'),
      tty: isOn('tty'),
      mounted,
      files: this.files,
    };
    const start = (streams: ProcessStreams): RemoteProcess =>
      verb === 'exec' ? startProcess(options, streams) : this.#attach(options, streams, socket);
    if (isWebSocketHandshake(request)) {
      const protocol = commandProtocol(request);
      if (!protocol) throw new HttpError(403, 'unable to upgrade: no supported protocol');
      return serveWebSocketCommand(request, socket, head, protocol, start);
    }
    const protocol = spdyCommandProtocol(request);
    if (!protocol) throw new HttpError(403, 'unable to upgrade: no supported protocol');
    const expected = { stdin: isOn('input'), stdout: isOn('output'), stderr: isOn('error') && !isOn('tty'), resize: isOn('tty') };
    serveSpdyCommand(socket, head, protocol, expected, start);
  }

  /** Attaches to the main process of a container: its output from now on, and a shell if the client has standard input. */
  #attach(options: ProcessOptions, streams: ProcessStreams, socket: Duplex): RemoteProcess {
    const source = logSource(options.pod, options.container.name ?? '', false);
    if (options.hasStdin || 'problem' in source) return startShell(options, streams);
    const following = followLog(source, this.pods, this.files, Date.now(), {
      isReading: () => !socket.writableNeedDrain,
      added: (parts) => {
        for (const part of parts) show(part, streams, options.tty);
      },
      ended: () => streams.exit(0),
    });
    return { *stdin() {}, stdinClosed: () => {}, hangUp: () => following[Symbol.dispose]() };
  }

  #forward(pod: Pod, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (pod.status?.phase !== 'Running')
      throw new HttpError(400, `unable to forward port because pod is not running. Current status=${pod.status?.phase}`);
    if (!forwardPorts(pod, this.localPorts, this.files, request, socket, head))
      throw new HttpError(403, 'unable to upgrade: no supported protocol');
  }
}

function refuse(error: unknown, answer: (status: number, text: string) => void): void {
  if (error instanceof HttpError) answer(error.status, error.message);
  // A path that cannot be decoded.
  else if (error instanceof URIError) answer(400, 'Bad Request');
  // An error of the simulation concerns this request alone.
  else answer(500, `Internal Server Error: ${(error as Error).message}`);
}

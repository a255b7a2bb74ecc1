import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { Dial } from './egress-selector.ts';

type Created = (error: Error | null, stream: Duplex) => void;

/** Returns an HTTP agent that connects through `dial`, or directly if it is undefined. */
export function agentOf(dial: Dial | undefined, secure: boolean, options: https.AgentOptions): http.Agent {
  const agent = secure ? new https.Agent(options) : new http.Agent(options);
  if (!dial) return agent;
  // Node also takes the connection from the callback; the type declarations know the return value only.
  agent.createConnection = ((asked: tls.ConnectionOptions & { signal?: AbortSignal }, created: Created) => {
    const endpoint = { host: asked.host ?? 'localhost', port: asked.port ?? (secure ? 443 : 80) };
    dial(endpoint, asked.signal).then(
      (socket) => created(null, secure ? tls.connect({ ...asked, socket }) : socket),
      (error: Error) => created(error, undefined as never),
    );
  }) as unknown as http.Agent['createConnection'];
  return agent;
}

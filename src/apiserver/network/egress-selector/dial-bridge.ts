import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { Dial } from './egress-selector.ts';

/**
 * A unix socket whose connections go on by `dial`: grpc-js makes its connections itself. Only the process's own user may open
 * the folder that it is in.
 */
export class DialBridge implements Disposable {
  readonly path: string;
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(dial: Dial, host: string, port: number) {
    this.#folder = mkdtempSync(join(tmpdir(), 'kubenest-dial-'));
    this.path = join(this.#folder, 'socket');
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      dial({ host, port }).then(
        (remote) => {
          // An end on one side ends the other; the client learns of it by its own connection.
          pipeline(socket, remote, () => remote.destroy());
          pipeline(remote, socket, () => socket.destroy());
        },
        () => socket.destroy(),
      );
    });
    this.#server.listen(this.path).unref();
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

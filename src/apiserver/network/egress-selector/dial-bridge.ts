import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { Dial } from './egress-selector.ts';

/**
 * A unix socket that forwards each connection through `dial`, because grpc-js accepts addresses but no dialer. Only the process's
 * user may open its folder.
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
          // Closing one side closes the other; the client detects it on its own connection.
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

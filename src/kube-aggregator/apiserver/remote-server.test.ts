import { connect, type Socket } from 'node:net';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { issueServingCertificate } from '#testing/serving-certificate';
import { RemoteServer } from './remote-server.ts';

it('connects through the dialer only, also to explain why a certificate is not trusted', async () => {
  const { certificateAuthority: _, ...certificate } = await issueServingCertificate();
  const target = createServer(certificate, (_request, response) => response.end('{}'));
  await new Promise<void>((listening) => target.listen(0, '127.0.0.1', listening));
  const { port } = target.address() as AddressInfo;
  const dialled: number[] = [];
  const server = new RemoteServer({
    // Only the dialer knows where this port leads.
    resolve: () => ({ host: '127.0.0.1', port: 1 }),
    tls: { servername: 'localhost' },
    dial: (endpoint) => {
      dialled.push(endpoint.port);
      return new Promise<Socket>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket));
        socket.once('error', reject);
      });
    },
  });
  try {
    const user = { name: 'u', groups: [] };
    await expect(server.get('/apis', { user, timeoutMs: 30_000 })).rejects.toThrow('x509: certificate signed by unknown authority');
    expect(dialled).toEqual([1, 1]);
  } finally {
    server[Symbol.dispose]();
    target.close();
  }
});

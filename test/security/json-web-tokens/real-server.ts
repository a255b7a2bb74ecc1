import type { KubeApiserver } from '../../servers/kube-apiserver.ts';
import type { Server } from './answers.ts';

export function realServer(server: KubeApiserver): Server {
  return {
    asAdmin: (method, path, body) => server.fetch(path, { method, body }),
    withToken: (token, path, body) =>
      server.send(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

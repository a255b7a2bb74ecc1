import { expect, it } from 'vitest';
import { WaitGroup } from '#apiserver/base/wait-group';
import { shutDownGracefully } from './graceful-shutdown.ts';
import { LifecycleSignals } from './signals.ts';

it('a hook that fails lets the requests end first, and fails the shutdown at its end', async () => {
  const done: string[] = [];
  const note = (what: string) => async (): Promise<void> => void done.push(what);
  const requests = new WaitGroup();
  const leave = requests.enter();
  const options = { shutdownDelayMs: 1, sendRetryAfter: false, watchGraceMs: 0, drainMs: 20_000 };
  const ended = shutDownGracefully(
    {
      signals: new LifecycleSignals(),
      requests,
      watches: new WaitGroup(),
      terminateWatches: () => undefined,
      runPreShutdownHooks: () => Promise.reject(new Error('the store does not answer')),
      stopListening: () => void done.push('stopped listening'),
      connectionsSettled: async () => {
        done.push('settled');
        setImmediate(() => {
          done.push('request answered');
          leave();
        });
      },
      closeBackends: note('backends closed'),
      closeConnections: note('connections closed'),
    },
    options,
  );
  await expect(ended).rejects.toThrow('the store does not answer');
  expect(done).toEqual(['stopped listening', 'settled', 'request answered', 'connections closed', 'backends closed']);
});

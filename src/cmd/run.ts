import { readFileSync } from 'node:fs';
import { parseTokenFile } from '#plugins/authentication/token-auth';
import { createApp } from './app.ts';

export async function run(args: readonly string[]): Promise<void> {
  const [dir = '/tmp/ref-main', port = '6443', file] = args;
  const read = (name: string): string => readFileSync(`${dir}/${name}`, 'utf8');
  const app = await createApp({
    storage: { file },
    serving: {
      bindAddress: '127.0.0.1', port: Number(port), certificate: { cert: read('server.crt'), key: read('server.key') }, sniCertificates: [], clientCa: read('ca.crt'),
      minVersion: 'TLSv1.2', cipherSuites: [], disableHttp2: false, maxConcurrentStreams: 100,
    },
    authentication: { anonymous: true, clientCa: read('ca.crt'), tokens: parseTokenFile(read('tokens.csv')) },
    authorization: { modes: ['RBAC'] },
    admission: ['NamespaceLifecycle'],
    requests: { timeoutMs: 60_000, maxInFlight: 400, maxMutatingInFlight: 200, goawayChance: 0, hstsDirectives: [], corsAllowedOrigins: [] },
    shutdown: { shutdownDelayMs: 0, sendRetryAfter: false, watchGraceMs: 0, drainMs: 60_000 },
    verbosity: 0, eventTtlSeconds: 3600, serviceClusterIpRange: '10.0.0.0/24',
  });
  await app.start();
  console.log('ready', Math.round(process.uptime() * 1000), 'ms, rss', Math.round(process.memoryUsage().rss / 1e6));
  process.once('SIGTERM', () => { void app.stop().then(() => process.exit(0)); });
}

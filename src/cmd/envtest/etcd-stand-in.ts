import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** Header of all answers of the stand-in, by which a kube-apiserver recognizes it. */
const standInHeader = 'x-kubenest-etcd-stand-in';
const askMs = 2_000;
const listenFlag = '--listen-client-urls';

/** Output of --help. Launchers look in etcd's help for the flags that they pass; except for the address, these concern stored data. */
export const etcdStandInHelp = `Stands in for etcd in envtest and stores nothing: the kube-apiserver keeps its objects in memory.

  ${listenFlag} 'http://localhost:2379'
    Addresses on which to listen, by HTTP. All other flags of etcd are accepted and have no effect.
  --unsafe-no-fsync
    Nothing is written to disk.
`;

/** Answers requests as a healthy etcd does. Resolves when it listens; rejects with an Error that describes an invalid URL. */
export async function startEtcdStandIn(args: readonly string[]): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  for (const url of clientUrls(args)) {
    const server = createServer(answer);
    server.listen(Number(url.port || 80), url.hostname.replace(/^\[(.*)\]$/, '$1'));
    await once(server, 'listening');
    started.defer(async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    });
  }
  return started.move();
}

/**
 * Returns the server's flags for those of a kube-apiserver. If its etcd is a stand-in, which stores nothing, objects are kept in memory and
 * all etcd flags are removed.
 */
export async function flagsForServer(flags: readonly string[]): Promise<string[]> {
  const servers = flagValue(flags, '--etcd-servers')?.split(',') ?? [];
  const areStandIns = await Promise.all(servers.map(isEtcdStandIn));
  if (!areStandIns.some(Boolean)) return [...flags];
  const isOfEtcd = (flag: string | undefined): boolean => flag?.startsWith('--etcd-') === true;
  const isValueOf = (flag: string | undefined): boolean => isOfEtcd(flag) && flag?.includes('=') === false;
  const kept = flags.filter((flag, i) => !isOfEtcd(flag) && !isValueOf(flags[i - 1]));
  return [...kept, '--storage-backend=memory', '--exit-with-parent'];
}

/** True if a stand-in answers at an etcd URL. */
async function isEtcdStandIn(url: string): Promise<boolean> {
  if (!url.startsWith('http:')) return false;
  try {
    const response = await fetch(new URL('/health', url), { signal: AbortSignal.timeout(askMs) });
    return response.headers.has(standInHeader);
  } catch {
    return false;
  }
}

function clientUrls(args: readonly string[]): URL[] {
  const text = flagValue(args, listenFlag) ?? 'http://localhost:2379';
  return text.split(',').map((part) => {
    const url = URL.canParse(part) ? new URL(part) : undefined;
    if (url?.protocol !== 'http:') throw new Error(`${listenFlag}: ${JSON.stringify(part)} must be http://HOST:PORT`);
    return url;
  });
}

/** Returns the value of a flag in the form `--flag=value` or `--flag value`; undefined if it is missing. */
function flagValue(args: readonly string[], flag: string): string | undefined {
  const at = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  return args[at]?.startsWith(`${flag}=`) ? args[at].slice(flag.length + 1) : at < 0 ? undefined : args[at + 1];
}

/** Upstream: etcd/server/etcdserver/api/etcdhttp/health.go. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const answers: Readonly<Record<string, object>> = {
    '/health': { health: 'true', reason: '' },
    '/version': { etcdserver: '3.6.0', etcdcluster: '3.6.0', storage: '3.6.0' },
  };
  const found = answers[new URL(request.url ?? '/', 'http://localhost').pathname];
  response.writeHead(found ? 200 : 404, { 'content-type': 'application/json', [standInHeader]: 'true' });
  response.end(JSON.stringify(found ?? { error: 'this is a stand-in for etcd, which stores nothing' }));
}

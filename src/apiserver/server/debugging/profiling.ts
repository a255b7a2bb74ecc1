import { Buffer } from 'node:buffer';
import { respondBytes, respondText } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { PathMux } from '#apiserver/endpoints/path-mux';
import { cpuProfile } from './cpu-profile.ts';
import { heapProfile } from './heap-profile.ts';
import type { ValueType } from './pprof.ts';
import { activeResources, emptyProfile, resourceProfile } from './resource-profile.ts';

const defaultSeconds = 30;
/**
 * Default duration of heap profiles in seconds. V8 samples only from the request on, and Go's half minute would be a long wait for
 * data that Go has immediately.
 */
const defaultHeapSeconds = 5;
const maxSeconds = 3_600;

interface Profile {
  readonly name: string;
  readonly description: string;
}

/** Profiles of Go's net/http/pprof, as far as V8 provides data: JavaScript has no locks, and V8 does not expose its threads. */
const profiles: readonly Profile[] = [
  {
    name: 'allocs',
    description: 'A sampling of memory allocations during the time of the seconds GET parameter.',
  },
  { name: 'block', description: 'Always empty: there are no locks.' },
  { name: 'goroutine', description: 'The resources that keep the event loop alive, by kind.' },
  {
    name: 'heap',
    description: 'A sampling of the allocations of live objects during the time of the seconds GET parameter.',
  },
  { name: 'mutex', description: 'Always empty: there are no locks.' },
  { name: 'threadcreate', description: 'Always empty: V8 does not report where threads are created.' },
  {
    name: 'profile',
    description:
      'CPU profile. You can specify the duration in the seconds GET parameter. After you get the profile file, use the go tool pprof command to investigate the profile.',
  },
  {
    name: 'symbol',
    description:
      'Maps given program counters to function names. Counters can be specified in a GET raw query or POST body, multiple counters are separated by &#39;+&#39;.',
  },
];

/** Installs /debug/pprof: profiles of this process. Upstream: apiserver/pkg/server/routes/profiling.go, Go's net/http/pprof. */
export function installProfiling(mux: PathMux): void {
  mux.handle('/debug/pprof', redirect, false);
  mux.handlePrefix('/debug/pprof/', serveIndex);
  mux.handle('/debug/pprof/profile', newProfileHandler('profile', defaultSeconds, cpuProfileFor), false);
  const ofHeap = newProfileHandler('heap', defaultHeapSeconds, (options) => heapProfile({ ...options, countsCollected: false }));
  mux.handle('/debug/pprof/heap', ofHeap, false);
  const ofAllocations = newProfileHandler('allocs', defaultHeapSeconds, (options) => heapProfile({ ...options, countsCollected: true }));
  mux.handle('/debug/pprof/allocs', ofAllocations, false);
  mux.handle('/debug/pprof/goroutine', serveResources, false);
  for (const [name, valueTypes] of emptyProfiles)
    mux.handle(`/debug/pprof/${name}`, async (context) => respondProfile(context, name, await emptyProfile(valueTypes)), false);
  mux.handle('/debug/pprof/symbol', serveSymbols, false);
}

const location = '/debug/pprof/';

const redirect: Handler = (context) => {
  context.headers.push('Location', location);
  if (context.method !== 'GET' && context.method !== 'HEAD') return respondBytes(context, 302, undefined, undefined);
  respondBytes(context, 302, 'text/html; charset=utf-8', Buffer.from(`<a href="${location}">Found</a>.\n\n`));
};

const serveIndex: Handler = (context) => {
  if (context.path !== location) return refuse(context, 404, 'Unknown profile');
  context.headers.push('X-Content-Type-Options', 'nosniff');
  respondBytes(context, 200, 'text/html; charset=utf-8', Buffer.from(indexPage()));
};

/** Serves the symbol lookup. Profiles contain function names, so there are no program counters to look up. */
const serveSymbols: Handler = (context) => {
  context.headers.push('X-Content-Type-Options', 'nosniff');
  respondBytes(context, 200, 'text/plain; charset=utf-8', Buffer.from('num_symbols: 1\n'));
};

/** Go's value types of the profiles that are always empty. */
const emptyProfiles: readonly (readonly [name: string, valueTypes: readonly ValueType[]])[] = [
  [
    'block',
    [
      { type: 'contentions', unit: 'count' },
      { type: 'delay', unit: 'nanoseconds' },
    ],
  ],
  [
    'mutex',
    [
      { type: 'contentions', unit: 'count' },
      { type: 'delay', unit: 'nanoseconds' },
    ],
  ],
  ['threadcreate', [{ type: 'threadcreate', unit: 'count' }]],
];

const serveResources: Handler = async (context) => {
  if (Number(context.searchParams.get('debug') ?? 0) <= 0) return respondProfile(context, 'goroutine', await resourceProfile());
  const resources = [...activeResources()];
  const total = resources.reduce((sum, [, count]) => sum + count, 0);
  const lines = resources.map(([type, count]) => `${count} @ ${type}\n`).join('');
  context.headers.push('X-Content-Type-Options', 'nosniff');
  respondBytes(context, 200, 'text/plain; charset=utf-8', Buffer.from(`goroutine profile: total ${total}\n${lines}`));
};

interface Sampling {
  readonly milliseconds: number;
  readonly cancelled: AbortSignal;
}

const cpuProfileFor = ({ milliseconds, cancelled }: Sampling): Promise<Buffer> => cpuProfile(milliseconds, cancelled);

/** Returns the handler of a profile. As in Go, one profile of a kind runs at a time. */
function newProfileHandler(name: string, otherwise: number, take: (sampling: Sampling) => Promise<Buffer>): Handler {
  let isBusy = false;
  return async (context) => {
    const wanted = Number.parseInt(context.searchParams.get('seconds') ?? '', 10);
    const seconds = Number.isNaN(wanted) || wanted <= 0 ? otherwise : Math.min(wanted, maxSeconds);
    if (isBusy) return refuse(context, 500, busy(name));
    isBusy = true;
    const cancelled = new AbortController();
    context.exchange.onClose(() => cancelled.abort());
    try {
      const bytes = await take({ milliseconds: seconds * 1_000, cancelled: cancelled.signal });
      if (!cancelled.signal.aborted) respondProfile(context, name, bytes);
    } finally {
      isBusy = false;
    }
  };
}

function busy(name: string): string {
  return name === 'profile'
    ? 'Could not enable CPU profiling: cpu profiling already in use'
    : `Could not sample: ${name} is already sampled`;
}

function respondProfile(context: RequestContext, name: string, bytes: Buffer): void {
  context.headers.push('X-Content-Type-Options', 'nosniff', 'Content-Disposition', `attachment; filename="${name}"`);
  respondBytes(context, 200, 'application/octet-stream', bytes);
}

function refuse(context: RequestContext, status: number, text: string): void {
  context.headers.push('X-Go-Pprof', '1');
  respondText(context, status, text);
}

function indexPage(): string {
  const rows = profiles.map(({ name }) => `<tr><td>0</td><td><a href='${name}?debug=1'>${name}</a></td></tr>\n`).join('');
  const descriptions = profiles
    .map(({ name, description }) => `<li><div class=profile-name>${name}: </div> ${description}</li>\n`)
    .join('');
  return `<html>
<head>
<title>/debug/pprof/</title>
<style>
.profile-name{
	display:inline-block;
	width:6rem;
}
</style>
</head>
<body>
/debug/pprof/
<br>
<p>Set debug=1 as a query parameter to export in legacy text format</p>
<br>
Types of profiles available:
<table>
<thead><td>Count</td><td>Profile</td></thead>
${rows}</table>
<br>
<p>
Profile Descriptions:
<ul>
${descriptions}</ul>
</p>
</body>
</html>
`;
}

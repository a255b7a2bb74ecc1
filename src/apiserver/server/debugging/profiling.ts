import { Buffer } from 'node:buffer';
import { respondBytes, respondText } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/endpoints/request/request-context';
import type { PathMux } from '#apiserver/server/path-mux';
import { cpuProfile } from './cpu-profile.ts';

const defaultSeconds = 30;
const maxSeconds = 3_600;

interface Profile {
  readonly name: string;
  readonly description: string;
}

/** What V8 can tell in Go's form. Goroutines, threads, locks and samples of all allocations it does not know: those are unknown profiles here. */
const profiles: readonly Profile[] = [
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

/** /debug/pprof: profiles of this process. Upstream: apiserver/pkg/server/routes/profiling.go, Go's net/http/pprof. */
export function installProfiling(mux: PathMux): void {
  mux.handle('/debug/pprof', redirect, false);
  mux.handlePrefix('/debug/pprof/', serveIndex);
  mux.handle('/debug/pprof/profile', newProfileHandler(), false);
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

/** A profile tells functions by their names, so there are no program counters to ask for. */
const serveSymbols: Handler = (context) => {
  context.headers.push('X-Content-Type-Options', 'nosniff');
  respondBytes(context, 200, 'text/plain; charset=utf-8', Buffer.from('num_symbols: 1\n'));
};

/** One at a time, as Go has it. */
function newProfileHandler(): Handler {
  let isBusy = false;
  return async (context) => {
    const wanted = Number.parseInt(context.searchParams.get('seconds') ?? '', 10);
    const seconds = Number.isNaN(wanted) || wanted <= 0 ? defaultSeconds : Math.min(wanted, maxSeconds);
    if (isBusy) return refuse(context, 500, 'Could not enable CPU profiling: cpu profiling already in use');
    isBusy = true;
    const cancelled = new AbortController();
    context.exchange.onClose(() => cancelled.abort());
    try {
      const bytes = await cpuProfile(seconds * 1_000, cancelled.signal);
      context.headers.push('X-Content-Type-Options', 'nosniff', 'Content-Disposition', 'attachment; filename="profile"');
      if (!cancelled.signal.aborted) respondBytes(context, 200, 'application/octet-stream', bytes);
    } finally {
      isBusy = false;
    }
  };
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

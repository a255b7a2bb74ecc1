import { Buffer } from 'node:buffer';
import { quote } from '#apimachinery/runtime/quote';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import { readRequestBody } from '#apiserver/endpoints/handlers/request-body';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { PathMux } from '#apiserver/endpoints/path-mux';

const maxUint32 = 0xffff_ffff;
const maxInt32 = 0x7fff_ffff;

const index = Buffer.from(`<html>
<head>
<title>/debug/flags/</title>
</head>
<body>
/debug/flags/<br>
<br>
flags:<br>
<table>
<tr>v<br>
</table>
<br>
full flags configurable<br>
</body>
</html>
`);

/** Installs /debug/flags/v, which sets the log verbosity at run time. Upstream: apiserver/pkg/server/routes/flags.go. */
export function installDebugFlags(mux: PathMux, setVerbosity: (verbosity: number) => void): void {
  const serveIndex: Handler = (context) => respondBytes(context, 200, 'text/html; charset=utf-8', index);
  mux.handle('/debug/flags', serveIndex, false);
  mux.handlePrefix('/debug/flags/', serveIndex);
  mux.handle('/debug/flags/v', async (context) => setFlag(context, setVerbosity), false);
}

async function setFlag(context: RequestContext, setVerbosity: (verbosity: number) => void): Promise<void> {
  if (context.method !== 'PUT') return respond(context, 406, 'unsupported http method');
  const text = (await readRequestBody(context)).toString();
  const failed = (call: string, reason: string): string => `strconv.${call}: parsing ${quote(text)}: ${reason}`;
  if (!/^\d+$/.test(text)) return respond(context, 400, failed('ParseUint', 'invalid syntax'));
  const verbosity = Number(text);
  if (verbosity > maxUint32) return respond(context, 400, failed('ParseUint', 'value out of range'));
  if (verbosity > maxInt32)
    return respond(context, 400, `failed set klog.logging.verbosity ${text}: ${failed('ParseInt', 'value out of range')}`);
  setVerbosity(verbosity);
  respond(context, 200, `successfully set klog.logging.verbosity to ${text}`);
}

function respond(context: RequestContext, status: number, text: string): void {
  context.headers.push('X-Content-Type-Options', 'nosniff');
  respondBytes(context, status, 'text/plain', Buffer.from(`${text}\n`));
}

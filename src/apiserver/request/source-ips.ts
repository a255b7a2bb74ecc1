import { formatIP, parseIPSloppy } from '#apimachinery/validation/ip';
import type { RequestContext } from './request-context.ts';

/**
 * Returns the client addresses from proxy headers and the peer address of the connection. Upstream:
 * apimachinery/pkg/util/net/http.go (SourceIPs).
 */
export function sourceIPsOf(context: RequestContext): string[] {
  const addresses = firstValue(context, 'x-forwarded-for').split(',').flatMap(addressIn);
  for (const address of addressIn(firstValue(context, 'x-real-ip'))) if (!addresses.includes(address)) addresses.push(address);
  const { remoteAddress } = context.exchange.peer;
  const remote = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress;
  return remote === '' || addresses.at(-1) === remote ? addresses : [...addresses, remote];
}

function firstValue({ exchange }: RequestContext, name: string): string {
  return exchange.headers[name] === undefined ? '' : (exchange.headerValues(name)[0] ?? '');
}

/** Returns the canonical address of a text; none if it cannot be parsed, or has a zone, which could be any text. */
function addressIn(text: string): string[] {
  const address = parseIPSloppy(text.trim());
  return address ? [formatIP(address)] : [];
}

const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
  ECONNRESET: 'read: connection reset by peer',
};

/** What Go's net package says of a connection that could not be made. */
export function dialErrorText(error: unknown): string {
  const {
    code = '',
    address,
    port,
    hostname,
    message,
  } = error as NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: no such host`;
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  if (text && address !== undefined) return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: ${text}`;
  if (error instanceof AggregateError) return dialErrorText(error.errors[0]);
  return message;
}

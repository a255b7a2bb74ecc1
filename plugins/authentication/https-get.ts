import { type Dial, JsonClient, noCredentials } from '#sdk/internal';

export interface HttpsGetOptions {
  /** PEM authorities; undefined: Node's default authorities. */
  readonly certificateAuthority: string | undefined;
  /** Dialer; undefined: direct connections. */
  readonly dial: Dial | undefined;
  readonly timeoutMs: number;
  readonly bearerToken?: string | undefined;
}

/** Returns the text at an https URL, requested once over a new connection. Rejects with a WebhookError. */
export async function httpsGet(url: string, { certificateAuthority, dial, timeoutMs, bearerToken }: HttpsGetOptions): Promise<string> {
  using client = new JsonClient(
    {
      url: new URL(url),
      certificateAuthority,
      serverName: undefined,
      insecure: false,
      ...noCredentials,
      authorization: bearerToken ? `Bearer ${bearerToken}` : undefined,
    },
    { timeoutMs, retryMs: 0, dial },
  );
  return (await client.send('GET', undefined)).toString('utf8');
}

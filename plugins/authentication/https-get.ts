import { type Dial, JsonClient, noCredentials } from 'kubenest/sdk';

export interface HttpsGetOptions {
  /** PEM; undefined: the authorities that Node knows. */
  readonly certificateAuthority: string | undefined;
  /** How connections are made; undefined: straight. */
  readonly dial: Dial | undefined;
  readonly timeoutMs: number;
  readonly bearerToken?: string | undefined;
}

/** The text behind an https URL, asked for once, on a connection of its own. Rejects with a WebhookError. */
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

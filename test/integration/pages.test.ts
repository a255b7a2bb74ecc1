import http2 from 'node:http2';
import https from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

describe('pages of Nest controllers', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ listen: true, users: [{ name: 'jane' }] });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const overHttp1 = (user: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      https
        .get(
          `${cluster.url}/kubenest`,
          { ca: cluster.certificateAuthority, headers: { authorization: `Bearer ${cluster.token(user)}` } },
          (response) => {
            let text = '';
            response
              .on('data', (chunk: Buffer) => {
                text += chunk.toString();
              })
              .on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          },
        )
        .on('error', reject);
    });
  const overHttp2 = (user: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const client = http2.connect(cluster.url as string, { ca: cluster.certificateAuthority as string });
      client.on('error', reject);
      const request = client.request({ ':path': '/kubenest', authorization: `Bearer ${cluster.token(user)}` });
      let status = 0;
      let text = '';
      request.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      request
        .on('data', (chunk: Buffer) => {
          text += chunk.toString();
        })
        .on('end', () => {
          client.close();
          resolve({ status, text });
        });
    });

  it.each([
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ] as const)('are served over %s to authorized users', async (_, get) => {
    const page = await get('admin');
    expect(page.status).toBe(200);
    expect(page.text).toContain('<li>NamespaceLifecycle</li>');
    expect((await get('jane')).status).toBe(403);
  });
});
